import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasS3Server, S3_ENVIRONMENT, S3Server, s3Title } from '../../../test/support/s3-server.js';
import { aFreePort } from '../../../test/support/served-platform.js';
import { openSegmentStore } from './open-segment-store.js';
import type { S3Options } from './s3-segment-store.js';
import type { SegmentStore } from './segment-store.js';

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 7) % 251);
const LARGE = bytes(300_000);
const SLOW_DOWN = { kind: 'refused', status: 503, code: 'SlowDown' } as const;
/** for requests past the store */
const SIGNED = { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, x, y' };
const same = (one: Uint8Array, other: Uint8Array) => expect(Buffer.compare(one, other)).toBe(0);

describe.runIf(hasS3Server())('a bucket', () => {
  let server: S3Server;
  let place: string;
  let store: SegmentStore;
  beforeAll(async () => {
    server = await S3Server.start();
    place = await server.bucket({ prefix: 'below/this' });
    store = await openSegmentStore(place, { patienceMs: 30_000 });
  });
  afterEach(() => {
    expect(server.proxy.faults.splice(0)).toEqual([]);
    server.proxy.isDown = false;
  });
  afterAll(() => server?.stop());

  const hasty = (options: S3Options = {}, url = place) => openSegmentStore(url, { patienceMs: 0, ...options });

  it('holds nothing of a file whose writer was cut off, and all of it after the next try', async () => {
    server.proxy.faults.push({ kind: 'request-cut', method: 'PUT', afterBytes: 100_000 });
    await expect((await hasty()).put('cut', LARGE)).rejects.toMatchObject({
      code: 'segments.unavailable',
      message: expect.stringContaining('does not answer'),
    });
    expect([await store.exists('cut'), await store.list('cut')]).toEqual([false, []]);
    server.proxy.faults.push({ kind: 'request-cut', method: 'PUT', afterBytes: 100_000 });
    await store.put('cut', LARGE);
    same(await store.get('cut'), LARGE);
  });

  it('holds a file whose writer did not hear of it', async () => {
    server.proxy.faults.push({ kind: 'answer-lost', method: 'PUT' });
    await store.put('unheard', LARGE);
    same(await store.get('unheard'), LARGE);
  });

  it.each(['PUT', 'GET', 'HEAD', 'DELETE'])('is asked again by %s when it is overloaded', async (method) => {
    await store.put('busy', bytes(10));
    server.proxy.faults.push(...Array.from({ length: 3 }, () => ({ ...SLOW_DOWN, method })));
    if (method === 'PUT') await store.put('busy', bytes(10));
    if (method === 'GET') expect(await store.list('busy')).toEqual(['busy']);
    if (method === 'HEAD') expect(await store.exists('busy')).toBe(true);
    if (method === 'DELETE') await store.delete('busy');
    expect(await store.exists('busy')).toBe(method !== 'DELETE');
  });

  it('is given up when it stays overloaded', async () => {
    server.proxy.faults.push({ ...SLOW_DOWN, method: 'PUT' });
    await expect((await hasty()).put('x', LARGE)).rejects.toMatchObject({
      code: 'segments.unavailable',
      details: { isTransient: true },
      message: 'the bucket of the segment store is overloaded or broken (SlowDown, status 503)',
    });
  });

  it('is asked again when it is silent', async () => {
    await store.put('slow', LARGE);
    server.proxy.faults.push({ kind: 'slow', method: 'GET', ms: 2_000 });
    same(await (await openSegmentStore(place, { silenceMs: 300 })).get('slow'), LARGE);
    server.proxy.faults.push({ kind: 'slow', method: 'GET', ms: 2_000 });
    await expect((await hasty({ silenceMs: 300 })).get('slow')).rejects.toThrow('does not answer (TimeoutError)');
  });

  it('is read again where the answer was cut off or changed on the way, into the same memory', async () => {
    await store.put('torn', LARGE);
    server.proxy.faults.push(
      { kind: 'answer-cut', method: 'GET', afterBytes: 200_000 },
      { kind: 'answer-changed', method: 'GET' },
    );
    let allocated = 0;
    const read = await store.get('torn', (size) => {
      allocated++;
      return new Uint8Array(size);
    });
    same(read, LARGE);
    expect(allocated).toBe(1);
    server.proxy.faults.push({ kind: 'answer-cut', method: 'GET', afterBytes: 200_000 });
    await expect((await hasty()).get('torn')).rejects.toMatchObject({ code: 'segments.unavailable' });
  });

  it('says which file is not what was written', async () => {
    // a server that does not check what it is sent, as this one
    server.proxy.faults.push({ kind: 'request-changed', method: 'PUT' });
    await store.put('changed', LARGE);
    await expect(store.get('changed')).rejects.toMatchObject({ code: 'segment.damaged', details: { key: 'changed' } });
  });

  it('takes a file that somebody else copied there as it is', async () => {
    const url = new URL(place);
    await fetch(`${server.url}/${url.hostname}/below/this/copied`, {
      method: 'PUT',
      body: 'copied',
      headers: SIGNED,
    });
    expect(String(await store.get('copied'))).toBe('copied');
  });

  it('holds one whole file where two workers write the same', async () => {
    const [one, other] = [store, await openSegmentStore(place, { patienceMs: 20_000 })];
    await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? one : other).put('twice', LARGE)));
    same(await store.get('twice'), LARGE);
    expect(await store.list('twice')).toEqual(['twice']);
  });

  it('signs what it puts: a server that checks takes nothing else', async () => {
    const seen: string[] = [];
    const checking = createServer((asked, answer) => {
      seen.push(String(asked.headers['x-amz-content-sha256']), String(asked.headers['x-amz-meta-sha256']));
      asked.resume().on('end', () => answer.end());
    }).listen(0, '127.0.0.1');
    await once(checking, 'listening');
    const { port } = checking.address() as AddressInfo;
    await (
      await openSegmentStore(server.placeOf({ bucket: 'any', endpoint: `http://127.0.0.1:${port}` }))
    ).put('x', Buffer.from('abc'));
    checking.closeAllConnections();
    checking.close();
    expect(seen).toEqual(Array(2).fill('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'));
  });

  it('keeps nothing of what is deleted where old versions are kept', async () => {
    const url = await server.bucket({ bucket: 'versions', versioned: true });
    const versions = await openSegmentStore(url);
    await versions.put('a', bytes(1));
    await versions.put('a', bytes(2));
    await versions.put('ab', bytes(3));
    const listed = async () =>
      (await (await fetch(`${server.url}/versions?versions`, { headers: SIGNED })).text()).match(/<Key>[^<]*/g);
    expect(await listed()).toHaveLength(3);
    // cut off half-way it is still there, and is deleted again
    server.proxy.faults.push(
      { kind: 'slow', method: 'DELETE', ms: 0 },
      { kind: 'refused', method: 'DELETE', status: 403, code: 'AccessDenied' },
    );
    await expect(versions.delete('a')).rejects.toThrow('refuses access to delete');
    same(await versions.get('a'), bytes(2));
    await versions.delete('a');
    expect(await listed()).toEqual(['<Key>ab']);
    await versions.probe();
    expect(await listed()).toEqual(['<Key>ab']);
    await versions.put('ab', bytes(4));
    await fetch(`${server.url}/versions/ab`, { method: 'DELETE', headers: SIGNED });
    expect([await versions.exists('ab'), await versions.list('')]).toEqual([false, []]);
    expect(await listed()).toHaveLength(3);
    await versions.delete('ab');
    expect(await listed()).toBeNull();
  });

  describe('which cannot be used', () => {
    const OPERATIONS: [string, (store: SegmentStore) => Promise<unknown>][] = [
      ['write', (broken) => broken.put('x', bytes(1))],
      ['read', (broken) => broken.get('x')],
      ['look', (broken) => broken.exists('x')],
      ['list', (broken) => broken.list('')],
      ['delete', (broken) => broken.delete('x')],
      ['probe', (broken) => broken.probe()],
    ];

    it.each(OPERATIONS)('is not there: said at once when asked to %s', async (_, ask) => {
      await expect(ask(await openSegmentStore(server.placeOf({ bucket: 'nowhere' })))).rejects.toMatchObject({
        code: 'segments.unavailable',
        details: { isTransient: false },
        message: expect.stringMatching(/^the bucket of the segment store is not there \(.*404\)$/),
      });
    });

    it.each(OPERATIONS)('refuses access: said at once when asked to %s', async (_, ask) => {
      server.proxy.faults.push({ kind: 'refused', status: 403, code: 'AccessDenied' });
      await expect(ask(store)).rejects.toMatchObject({
        code: 'segments.unavailable',
        details: { isTransient: false },
        message: expect.stringMatching(/^the bucket of the segment store refuses access to [a-z ]+ \(.*403\)$/),
      });
    });

    it.each(OPERATIONS)('does not answer: said when asked to %s', async (_, ask) => {
      const endpoint = `http://127.0.0.1:${await aFreePort()}`;
      await expect(ask(await hasty({}, server.placeOf({ bucket: 'somewhere', endpoint })))).rejects.toMatchObject({
        code: 'segments.unavailable',
        details: { isTransient: true },
        message: 'the bucket of the segment store does not answer (ECONNREFUSED)',
      });
    });

    it('has no credentials', async () => {
      const { AWS_ACCESS_KEY_ID: id, ...rest } = S3_ENVIRONMENT;
      delete process.env.AWS_ACCESS_KEY_ID;
      process.env.AWS_SHARED_CREDENTIALS_FILE = process.env.AWS_CONFIG_FILE = '/dev/null';
      try {
        const alone = await hasty({}, server.placeOf({ bucket: 'alone' }));
        await expect(alone.list('')).rejects.toThrow('no credentials for the bucket of the segment store were found');
      } finally {
        Object.assign(process.env, rest, { AWS_ACCESS_KEY_ID: id });
      }
    });
  });

  describe('with copies here', () => {
    let folder: string;
    let nearPlace: string;
    let near: SegmentStore;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'recredit-cache-'));
      const url = new URL(place);
      url.searchParams.set('cache', folder);
      url.searchParams.set('cacheBytes', '1e9');
      nearPlace = url.href;
      near = await openSegmentStore(nearPlace);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));
    const copies = async () => (await readdir(folder)).filter((name) => name !== 'tidied');

    it('is asked once for what is read twice', async () => {
      await near.put('near', LARGE);
      const before = server.proxy.requests.length;
      same(await near.get('near'), LARGE);
      same(await near.get('near'), LARGE);
      expect(server.proxy.requests.length - before).toBe(1);
      server.proxy.isDown = true;
      same(await near.get('near'), LARGE);
    });

    it('is asked again where the copy was cut off or changed', async () => {
      await near.put('near', LARGE);
      same(await near.get('near'), LARGE);
      for (const damage of [(all: Buffer) => all.subarray(0, 1000), (all: Buffer) => all.fill(0, 5, 6)]) {
        const [name] = await copies();
        await writeFile(join(folder, name), damage(await readFile(join(folder, name))));
        same(await near.get('near'), LARGE);
      }
    });

    it('leaves no copy of what is deleted', async () => {
      await near.put('near', LARGE);
      await near.get('near');
      expect(await copies()).toHaveLength(1);
      await near.delete('near');
      expect(await copies()).toEqual([]);
      await expect(near.get('near')).rejects.toMatchObject({ code: 'segment.damaged' });
    });

    it('leaves no copy for who wants none', async () => {
      await near.put('near', LARGE);
      same(await (await openSegmentStore(nearPlace, { copies: false })).get('near'), LARGE);
      expect(await copies()).toEqual([]);
    });

    it('is read without copies where they cannot be written', async () => {
      await near.put('near', LARGE);
      await rm(folder, { recursive: true });
      same(await near.get('near'), LARGE);
      same(await near.get('near'), LARGE);
    });
  });
});

it.skipIf(hasS3Server())(s3Title('a bucket'), () => {});
