import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasS3Server, S3Server, s3Title } from '../../../test/support/s3-server.js';
import { CachedSegmentStore } from './cached-segment-store.js';
import { openSegmentStore } from './open-segment-store.js';
import { checkKey, type SegmentStore } from './segment-store.js';

const bytes = (...values: number[]) => Uint8Array.from(values);

async function aFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'recredit-segments-'));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

let server: S3Server | null = null;
const anS3Server = async () => (server ??= await S3Server.start());
afterAll(() => server?.stop());

/** The server for tests stumbles over requests for one key that come at once. */
const PATIENT = { patienceMs: 30_000 };

/** What it takes to replace a file while it is read, by the server for tests, which is slow. */
const SLOW_RACE = { bytes: 1_000_000, puts: 12, gets: 30 };

/** Every kind of store keeps to this. */
const STORES = [
  {
    kind: 'a folder',
    isThere: true,
    few: false,
    race: { bytes: 3_000_000, puts: 20, gets: 100 },
    open: async () => {
      const { folder, remove } = await aFolder();
      return { store: await openSegmentStore(pathToFileURL(join(folder, 'not there yet')).href), close: remove };
    },
  },
  {
    kind: s3Title('a bucket'),
    isThere: hasS3Server(),
    few: false,
    race: SLOW_RACE,
    open: async () => ({
      store: await openSegmentStore(await (await anS3Server()).bucket(), PATIENT),
      close: async () => {},
    }),
  },
  {
    kind: s3Title('what lies below a prefix in a bucket with versions, and copies of it here'),
    isThere: hasS3Server(),
    few: true, // the server for tests is slow
    race: SLOW_RACE,
    open: async () => {
      const { folder, remove } = await aFolder();
      const cache = { folder: join(folder, 'not there yet'), bytes: 1e9 };
      const place = await (await anS3Server()).bucket({ versioned: true, prefix: 'some/prefix', cache });
      return { store: await openSegmentStore(place, PATIENT), close: remove };
    },
  },
];

describe.each(STORES)('$kind', ({ open, isThere, few, race }) => {
  if (!isThere) return it.skip('keeps to the contract', () => {});

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

  it('gives a part of a file, where it has one sooner than the whole', async () => {
    if (!store.getPart) return expect(store).toBeInstanceOf(CachedSegmentStore);
    await store.put('a/part.arrow', bytes(1, 2, 3, 4));
    const part = async (...range: [number, number?]) => [...(await store.getPart!('a/part.arrow', ...range))];
    expect(await Promise.all([part(1, 3), part(2), part(-1), part(-9), part(3, 9)])).toEqual([[2, 3], [3, 4], [4], [1, 2, 3, 4], [4]]); // prettier-ignore
    const memory = new Uint8Array(8);
    const read = await store.getPart('a/part.arrow', 0, 2, (size) => memory.subarray(4, 4 + size));
    expect([[...read], read.buffer]).toEqual([[1, 2], memory.buffer]);
    await expect(store.getPart('a/none.arrow', -1)).rejects.toMatchObject({ code: 'segment.damaged' });
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

  it.skipIf(few)('lists more than a page of a bucket', async () => {
    const keys = Array.from({ length: 1100 }, (_, i) => `many/${String(i).padStart(4, '0')}`);
    for (let i = 0; i < keys.length; i += 50) {
      await Promise.all(keys.slice(i, i + 50).map((key) => store.put(key, bytes(i % 256))));
    }
    expect(await store.list('many/')).toEqual(keys);
  });

  it('can be tried, and nothing is left of that', async () => {
    const before = await store.list('');
    await store.probe();
    expect(await store.list('')).toEqual(before);
  });

  it('reads into the memory that it is given', async () => {
    await store.put('e/x', bytes(1, 2, 3));
    const memory = new Uint8Array(8);
    for (let i = 0; i < 2; i++) {
      const read = await store.get('e/x', (size) => memory.subarray(2, 2 + size));
      expect([read.buffer, [...memory]]).toEqual([memory.buffer, [0, 0, 1, 2, 3, 0, 0, 0]]);
      memory.fill(0);
    }
  });

  it('forgets what is deleted, and does not mind when it is gone', async () => {
    await store.put('d/x', bytes(1));
    await store.delete('d/x');
    await store.delete('d/x');
    expect([await store.exists('d/x'), await store.list('d')]).toEqual([false, []]);
  });

  it('never shows a part of a file while it is replaced', async () => {
    const [small, large] = [new Uint8Array(10).fill(1), new Uint8Array(race.bytes).fill(2)];
    await store.put('race', small);
    const writing = Promise.all(Array.from({ length: race.puts }, (_, i) => store.put('race', i % 2 ? small : large)));
    const seen = new Set<string>();
    for (let i = 0; i < race.gets; i++) {
      const read = await store.get('race');
      seen.add(`${read.length} ${read[0]} ${read.at(-1)}`);
    }
    await writing;
    expect([...seen].every((shape) => ['10 1 1', `${race.bytes} 2 2`].includes(shape))).toBe(true);
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

it('loads the AWS SDK for buckets alone', () => {
  const loader = new URL('../../../test/support/register-libs.mjs', import.meta.url).href;
  const opened = (url: string) =>
    execFileSync(process.execPath, ['--import', loader, '--input-type=module', '-e', LOADED, url], {
      encoding: 'utf8',
    });
  expect(opened(pathToFileURL(tmpdir()).href)).toBe('0');
  expect(Number(opened('s3://bucket?region=here'))).toBeGreaterThan(0);
});

/** Opens a store, and says how many files of the SDK are loaded then. */
const LOADED = `
  import { Module } from 'node:module';
  import { openSegmentStore } from '#lib/storage';
  await openSegmentStore(process.argv[1]);
  process.stdout.write(String(Object.keys(Module._cache).filter((file) => file.includes('@aws-sdk')).length));
`;

it.each(['https://x', 's3://Bucket', 's3://bucket/a//b', 's3:///prefix'])('takes %s for no store', async (url) => {
  await expect(openSegmentStore(url)).rejects.toMatchObject({ code: 'config.invalid' });
});
