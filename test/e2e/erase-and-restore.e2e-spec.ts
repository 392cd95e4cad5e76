import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyRun } from '#lib/event-log';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAnalysis, whenEnded } from '../support/analyses.js';
import { aRunOn, eventsOf, expectRebuildEqual, train, TURNS } from '../support/logged.js';
import { recredit, recreditJson } from '../support/recredit.js';
import { ServedPlatform, until } from '../support/served-platform.js';

let folder: string;
let platform: ServedPlatform;
const platforms: ServedPlatform[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-e2e-keep-'));
  platform = await ServedPlatform.start();
  platforms.push(platform);
});
afterAll(async () => {
  for (const each of platforms) expect(await each.remove()).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

const environment = () => ({ RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url });
let runs = 0;
const aName = () => `run-${++runs}`;

const begin = (name: string) => aRunOn(platform, name);

/** @returns the id of a run that ended, with 64 trajectories in two training steps, analysed */
async function aTrainedRun(name: string): Promise<string> {
  const run = await begin(name);
  await train(run, 0, 64);
  const { run: id } = await run.end();
  expect(await whenEnded(platform, await startAnalysis(platform, name))).toMatchObject({ state: 'COMPLETED' });
  return id!;
}

const ERASURE = 'query ($id: ID!) { run(id: $id) { state erasure { finishedAt batches reason requestedBy } } }';

async function finished(id: string): Promise<{ reason: string; requestedBy: string }> {
  let run: { state: string; erasure: { finishedAt: string | null; reason: string; requestedBy: string } | null };
  await until('the erasure is finished', 60_000, async () => {
    ({ run } = await platform.ask(ERASURE, { id }));
    return run.erasure?.finishedAt != null && run.state === 'ERASED';
  });
  return run!.erasure!;
}

/** Where an erasure stands when kill -9 comes: what holds it up there, and what it is seen to wait for. */
const MOMENTS: [string, (id: string) => string, string][] = [
  ['at its begin', (id) => `select pg_advisory_lock(hashtextextended('projection of ${id}', 0))`, 'advisory'],
  ['while it gives space back', () => 'begin; select from event_batch limit 0', 'vacuum (full'],
];

it.each(MOMENTS)('finishes an erasure that kill -9 met %s, at the next start', async (_, hold, waiting) => {
  const name = aName();
  const id = await aTrainedRun(name);
  const watcher = platform.ownerPool();
  const holder = await platform.ownerPool().connect();
  holder.on('error', () => {});
  try {
    await holder.query(hold(id));
    await platform.ask('mutation ($run: ID!) { eraseRun(input: { run: $run }) { finishedAt } }', { run: id });
    await until('the erasure waits', 30_000, async () => {
      const { rows } = await watcher.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%' || $1 || '%'`,
        [waiting],
      );
      return rows.length > 0;
    });
    expect((await platform.ask(ERASURE, { id })).run.erasure.finishedAt).toBeNull();
    await platform.kill();
  } finally {
    holder.release(true);
  }
  await platform.start();
  await finished(id); // nobody asked for it again

  const once = await recreditJson(['erase', name, '--yes', '--reason', 'asked for again'], environment());
  expect(once).toMatchObject({ run: id, finishedAt: expect.any(String) });
  expect(once.payloadBytes).toBeGreaterThan(0);
  expect(await recreditJson(['erase', name, '--yes'], environment())).toEqual(once);
  const verified = await recreditJson(['verify', name], environment());
  expect(verified).toMatchObject({
    ok: true,
    broken: null,
    erased: { batches: once.batches, position: once.position },
  });
  const { stdout } = await recredit(['verify', name], environment());
  expect(stdout).toContain(`ERASED at position`);
  expect(await (await platform.store()).list(`segments/${id}/`)).toEqual([]);
  await expect(recreditJson(['analyze', '--run', name, '--estimators', 'grpo'], environment())).rejects.toThrow(
    'was erased',
  );
  await expect(recreditJson(['export', name, '--to', folder], environment())).rejects.toThrow('was erased');
});

it('is asked for: without --yes nobody who cannot answer erases anything', async () => {
  const name = aName();
  const id = await aTrainedRun(name);
  expect(await recredit(['erase', name], environment())).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect((await platform.ask(ERASURE, { id })).run.erasure).toBeNull();
});

it('leaves a trainer in the middle of its run undisturbed, and tells it why nothing is taken any more', async () => {
  const name = aName();
  const run = await begin(name);
  await train(run, 0, 64);
  const { position } = await run.flush();
  expect(position).toBeGreaterThan(64 * TURNS);
  await recreditJson(['erase', name, '--yes'], environment());
  await train(run, 64, 96); // every turn is accepted, as `train` asserts
  const report = await run.end();
  expect(report.unsent).toBeGreaterThan(32 * TURNS);
  expect(report.problem).toMatchObject({ code: 'run.erased', status: 409 });
  const again = await begin(name);
  expect((await again.end()).problem).toMatchObject({ code: 'run.erased' });
});

it('erases by itself what its project keeps no longer, with the reason in tombstone and log', async () => {
  const names = [aName(), aName()];
  const [old, recent] = [await aTrainedRun(names[0]), await aTrainedRun(names[1])];
  const set = await recreditJson(['projects', 'set', 'default', '--retention', '3'], environment());
  expect(set).toMatchObject({ name: 'default', retentionDays: 3 });
  const owner = await platform.ownerPool().connect();
  await owner.query('set session_replication_role = replica');
  await owner.query(`update event_batch set received_at = received_at - interval '4 days' where run_id = $1`, [old]);
  owner.release(true);
  await platform.stop();
  await platform.start();
  const { reason, requestedBy } = await finished(old);
  expect(requestedBy).toBe('retention');
  expect(reason).toContain('project default keeps runs for 3 days after they ended');
  const log = readFileSync(join(platform.home, 'recredit.log'), 'utf8').trim().split('\n');
  const said = log.map((line) => JSON.parse(line) as { msg: string; run?: string; reason?: string });
  expect(said.filter(({ run, msg }) => run === old && msg.includes('retention'))).toMatchObject([{ reason }]);
  expect((await platform.ask(ERASURE, { id: recent })).run).toMatchObject({ erasure: null, state: 'COMPLETED' });
  const forever = await recreditJson(['projects', 'set', 'default', '--retention', 'forever'], environment());
  expect(forever.retentionDays).toBeNull();
});

it('is backed up while a trainer writes, and restored into a home of its own', async () => {
  const [name, other] = [aName(), aName()];
  await aTrainedRun(other);
  const run = await begin(name);
  await train(run, 0, 64);
  const { position } = await run.flush();
  const training = new AbortController();
  const going = (async () => {
    for (let i = 64; !training.signal.aborted; i += 32) await train(run, i, i + 32);
  })();
  const target = join(folder, 'backup');
  const { events } = await recreditJson(['backup', target], environment());
  training.abort();
  await going;
  await run.end();

  const elsewhere = await ServedPlatform.prepare();
  platforms.push(elsewhere);
  const there = { RECREDIT_HOME: elsewhere.home, RECREDIT_URL: elsewhere.url, RECREDIT_API_KEY: platform.key };
  const bytes = readFileSync(join(target, 'event_batch.copy'));
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(join(target, 'event_batch.copy'), bytes);
  expect(await recredit(['restore', target], there)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('event_batch.copy is not what was written'),
  });
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(join(target, 'event_batch.copy'), bytes);
  expect(await recreditJson(['restore', target], there)).toMatchObject({ events });
  expect(await recredit(['restore', target], there)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('empty'),
  });

  writeFileSync(join(elsewhere.home, 'first-key'), platform.key); // the keys are those of the other platform
  await elsewhere.start();
  const { run: restored } = await elsewhere.ask('query ($id: ID!) { run(id: $id) { id } }', { id: name });
  const kept = await eventsOf(elsewhere, restored.id);
  expect(kept.length).toBeGreaterThanOrEqual(position!);
  expect(kept).toEqual((await eventsOf(platform, restored.id)).slice(0, kept.length));
  expect(await verifyRun(elsewhere.pool(), restored.id)).toMatchObject({ broken: null });
  await expectRebuildEqual(elsewhere, restored.id);
  const asked = `query ($id: ID!) { run(id: $id) { analyses { edges { node { id state comparison { turns } } } }
    trajectories(first: 3) { edges { node { id turns { edges { node { action } } } } } } } }`;
  await until('the restored run is projected', 30_000, async () => {
    const { run: seen } = await elsewhere.ask('query ($id: ID!) { run(id: $id) { state } }', { id: other });
    return seen.state === 'COMPLETED';
  });
  expect(await elsewhere.ask(asked, { id: other })).toEqual(await platform.ask(asked, { id: other }));
  expect(await recredit(['backup', target], environment())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('empty folder'),
  });
});
