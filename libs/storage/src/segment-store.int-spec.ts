import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSegmentStore } from './open-segment-store.js';
import { checkKey, type SegmentStore } from './segment-store.js';

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Every kind of store keeps to this; a bucket joins by one line. */
const STORES = [
  {
    kind: 'a folder',
    open: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'recredit-segments-'));
      return {
        store: await openSegmentStore(pathToFileURL(join(folder, 'not there yet')).href),
        close: () => rm(folder, { recursive: true }),
      };
    },
  },
];

describe.each(STORES)('$kind', ({ open }) => {
  let store: SegmentStore;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  it('gives back what was put, and the newest under a key', async () => {
    await store.put('a/x.arrow', bytes(1, 2, 3));
    expect(Buffer.from(await store.get('a/x.arrow'))).toEqual(Buffer.from([1, 2, 3]));
    await store.put('a/x.arrow', bytes(4));
    expect(Buffer.from(await store.get('a/x.arrow'))).toEqual(Buffer.from([4]));
  });

  it('knows what it has', async () => {
    await store.put('b/y', bytes());
    expect([await store.exists('b/y'), await store.exists('b'), await store.exists('b/z')]).toEqual([
      true,
      false,
      false,
    ]);
    await expect(store.get('b/z')).rejects.toMatchObject({
      code: 'segment.damaged',
      message: expect.stringContaining('b/z'),
    });
  });

  it('lists by prefix, sorted', async () => {
    for (const key of ['c/2/b', 'c/10/a', 'c/2/a', 'cc/1']) await store.put(key, bytes(1));
    expect(await store.list('c/')).toEqual(['c/10/a', 'c/2/a', 'c/2/b']);
    expect(await store.list('c/2/')).toEqual(['c/2/a', 'c/2/b']);
    expect(await store.list('c')).toEqual(['c/10/a', 'c/2/a', 'c/2/b', 'cc/1']);
    expect(await store.list('nothing/here')).toEqual([]);
  });

  it('forgets what is deleted, and does not mind when it is gone', async () => {
    await store.put('d/x', bytes(1));
    await store.delete('d/x');
    await store.delete('d/x');
    expect([await store.exists('d/x'), await store.list('d')]).toEqual([false, []]);
  });

  it('never shows a part of a file while it is replaced', async () => {
    const [small, large] = [new Uint8Array(10).fill(1), new Uint8Array(3_000_000).fill(2)];
    await store.put('race', small);
    const writing = Promise.all(Array.from({ length: 20 }, (_, i) => store.put('race', i % 2 ? small : large)));
    const seen = new Set<string>();
    for (let i = 0; i < 100; i++) {
      const read = await store.get('race');
      seen.add(`${read.length} ${read[0]} ${read.at(-1)}`);
    }
    await writing;
    expect([...seen].every((shape) => ['10 1 1', '3000000 2 2'].includes(shape))).toBe(true);
    expect(await store.list('race')).toEqual(['race']);
  });

  it.each(['../x', '/etc/passwd', 'a/../b', 'a//b', '', '.', 'a/', '.hidden', 'a\0b', 'a b', 'ä'])(
    'takes %j for no key',
    async (key) => {
      await expect(store.put(key, bytes(1))).rejects.toThrow('no key');
      await expect(store.get(key)).rejects.toThrow('no key');
      await expect(store.delete(key)).rejects.toThrow('no key');
    },
  );
});

it('keys may hold what ids and hashes hold', () => {
  const key = `segments/0198-abc/${'f'.repeat(64)}.text.arrow`;
  expect(checkKey(key)).toBe(key);
});

it('leaves out what a killed writer left unfinished', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recredit-segments-'));
  const store = await openSegmentStore(pathToFileURL(folder).href);
  await store.put('a', bytes(1));
  const unfinished = `${(await readdir(folder))[0]}.0123456789ab.~`;
  await writeFile(join(folder, unfinished), 'half');
  expect(await store.list('')).toEqual(['a']);
  await rm(folder, { recursive: true });
});

it('refuses a bucket, which is for later, and what is no store', async () => {
  await expect(openSegmentStore('s3://bucket/prefix')).rejects.toMatchObject({ code: 'config.invalid' });
  await expect(openSegmentStore('https://x')).rejects.toMatchObject({ code: 'config.invalid' });
});
