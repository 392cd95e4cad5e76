import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSegmentStore, type SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnalysis, whenEnded } from '../support/analyses.js';
import { resultsOf } from '../support/intact.js';
import { aRunOn, expectRebuildEqual, train } from '../support/logged.js';
import { recredit, recreditJson } from '../support/recredit.js';
import { hasS3Server, S3_ENVIRONMENT, S3Server, s3Title } from '../support/s3-server.js';
import { aFreePort, ServedPlatform, until } from '../support/served-platform.js';

describe.runIf(hasS3Server())('a platform whose segments lie in a bucket', () => {
  let folder: string;
  let server: S3Server;
  let platform: ServedPlatform;
  let environment: Record<string, string>;
  const platforms: ServedPlatform[] = [];
  const ids = new Map<string, string>();

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'recredit-e2e-bucket-'));
    server = await S3Server.start();
    await server.bucket({ bucket: 'segments' });
    environment = {
      ...S3_ENVIRONMENT,
      AWS_ENDPOINT_URL: server.proxy.url,
      RECREDIT_SEGMENTS: 's3://segments/of/us',
    };
    platform = await ServedPlatform.start({ environment });
    platforms.push(platform);
    environment = { ...environment, RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
  });
  afterAll(async () => {
    for (const each of platforms) expect(await each.remove()).toEqual([]);
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function trained(name: string): Promise<string> {
    const run = await aRunOn(platform, name);
    await train(run, 0, 64);
    const { run: id } = await run.end();
    ids.set(name, id!);
    return id!;
  }

  const resultsSaid = async (id: string) =>
    (await resultsOf(platform.pool(), await platform.store(), id)).map((result) => JSON.parse(result).found);

  it('analyses, exports and rebuilds as on a folder, with no file of its own but copies', async () => {
    const id = await trained('first');
    const analysis = await startAnalysis(platform, 'first');
    expect(await whenEnded(platform, analysis)).toMatchObject({ state: 'COMPLETED', progress: { failed: 0 } });
    expect(new Set(await resultsSaid(id))).toEqual(new Set(['as said']));
    for (const what of ['first', analysis]) {
      const target = join(folder, `export of ${what}`);
      await recreditJson(['export', what, '--to', target], environment);
      expect(readdirSync(target).filter((name) => name.endsWith('.arrow'))).not.toEqual([]);
    }
    await expectRebuildEqual(platform, id);
    expect(await recreditJson(['rebuild', 'first'], environment)).toBeTruthy();
    await expectRebuildEqual(platform, id);
    expect(existsSync(join(platform.home, 'segments'))).toBe(false);
    expect(readdirSync(join(platform.home, 'segments-cache')).length).toBeGreaterThan(1);
  });

  it('goes on with an analysis when a bucket that was away is back', async () => {
    const id = await trained('second');
    await until('it is projected', 60_000, async () => (await segmentsOf(await platform.store(), id)).length > 0);
    server.proxy.isDown = true;
    const analysis = await startAnalysis(platform, 'second');
    await until('the bucket is missed', 60_000, () => server.proxy.missed > 4);
    server.proxy.isDown = false;
    expect(await whenEnded(platform, analysis)).toMatchObject({ state: 'COMPLETED', progress: { failed: 0 } });
    expect(new Set(await resultsSaid(id))).toEqual(new Set(['as said']));
  });

  it('is ready when the bucket can be written, and says so when it cannot', async () => {
    const ready = async () => {
      const answer = await fetch(`${platform.url}/readyz`, { headers: { authorization: `Bearer ${platform.key}` } });
      return (await answer.json()) as { status?: string; failing?: string[]; checks: { segments: string } };
    };
    expect(await ready()).toMatchObject({ status: 'ready' });
    server.proxy.isDown = true;
    try {
      const { failing, checks } = await ready();
      expect({ failing, said: checks.segments }).toEqual({
        failing: ['segments'],
        said: 'cannot be written (segments.unavailable)',
      });
    } finally {
      server.proxy.isDown = false;
    }
  });

  it('is backed up, and restored into another bucket', async () => {
    const target = join(folder, 'backup');
    const { creditFiles } = await recreditJson(['backup', target], environment);
    expect(creditFiles).toBeGreaterThan(0);
    const elsewhere = await ServedPlatform.prepare();
    platforms.push(elsewhere);
    const url = await server.bucket({ bucket: 'elsewhere' });
    const there = { ...environment, RECREDIT_HOME: elsewhere.home, RECREDIT_SEGMENTS: 's3://elsewhere' };
    await recreditJson(['restore', target], there);
    const [ours, theirs] = [await platform.store(), await openSegmentStore(url)];
    const keys = await ours.list('credit/');
    expect(keys).toHaveLength(creditFiles);
    expect(await theirs.list('')).toEqual(keys);
    for (const key of keys) expect(Buffer.compare(await ours.get(key), await theirs.get(key))).toBe(0);
  });

  it('leaves nothing of an erased run, neither in the bucket nor in copies', async () => {
    const store = await platform.store();
    for (const [name, id] of ids) {
      expect(await segmentsOf(store, id)).not.toEqual([]);
      await recreditJson(['erase', name, '--yes'], environment);
      await until('the erasure is finished', 60_000, async () => {
        const query = 'query ($id: ID!) { run(id: $id) { erasure { finishedAt } } }';
        return (await platform.ask(query, { id })).run.erasure?.finishedAt != null;
      });
      expect(await segmentsOf(store, id)).toEqual([]);
    }
    expect(await store.list('')).toEqual([]);
    expect(readdirSync(join(platform.home, 'segments-cache'))).toEqual(['tidied']);
  });

  it('is looked at by doctor, which says in a line what a bucket lacks', async () => {
    const doctor = async (more: Record<string, string>) => {
      const { stdout } = await recredit(['doctor', '--json'], { ...environment, ...more });
      const { checks } = JSON.parse(stdout) as {
        checks: { name: string; ok: boolean; found: string; advice: string }[];
      };
      return checks.find(({ name }) => name === 'segment store');
    };
    const { url } = server.proxy;
    expect(await doctor({})).toMatchObject({
      ok: true,
      found: `s3://segments/of/us at ${url} can be written and read`,
    });
    expect(await (await platform.store()).list('')).toEqual([]);
    expect(await doctor({ RECREDIT_SEGMENTS: 's3://nowhere' })).toMatchObject({
      ok: false,
      found: `s3://nowhere at ${url}: the bucket of the segment store is not there (NoSuchBucket, status 404)`,
      advice: expect.stringContaining('docs/guides/operate.md#segments-in-a-bucket'),
    });
    const silent = `http://127.0.0.1:${await aFreePort()}`;
    expect(await doctor({ AWS_ENDPOINT_URL: silent })).toMatchObject({
      ok: false,
      found: `s3://segments/of/us at ${silent}: the bucket of the segment store does not answer (ECONNREFUSED)`,
    });
  });

  it('is refused at start where the bucket is not there', async () => {
    const elsewhere = await ServedPlatform.prepare();
    platforms.push(elsewhere);
    const { code, stderr } = await recredit(['serve'], {
      ...environment,
      RECREDIT_HOME: elsewhere.home,
      RECREDIT_PORT: String(elsewhere.port),
      RECREDIT_SEGMENTS: 's3://nowhere',
    });
    expect({ code, said: stderr.trim().split('\n').at(-1) }).toEqual({
      code: 1,
      said: expect.stringContaining(
        'RECREDIT_SEGMENTS: the bucket of the segment store is not there (NoSuchBucket, status 404)',
      ),
    });
  });
});

const segmentsOf = (store: SegmentStore, run: string) => store.list(`segments/${run}/`);

it.skipIf(hasS3Server())(s3Title('a platform whose segments lie in a bucket'), () => {});
