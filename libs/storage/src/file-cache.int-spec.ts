import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FileCache } from './file-cache.js';
import { ownMemory } from './read-whole.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recredit-cache-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const MINUTE = 60;
const file = (value: number, length = 1000) => new Uint8Array(length).fill(value);
const read = (cache: FileCache, name: string) => cache.read(name, ownMemory);
const names = async () => (await readdir(folder)).filter((name) => name !== 'tidied');
const bytesThere = async () =>
  (await Promise.all((await names()).map(async (name) => (await stat(join(folder, name))).size))).reduce(
    (a, b) => a + b,
    0,
  );

/** As if all that is there had been written, and used, so long ago. */
async function age({ written, used }: { written: number; used: number }): Promise<void> {
  const now = Date.now() / 1000;
  for (const name of await names()) await utimes(join(folder, name), now - used, now - written);
}

it('keeps copies of all lengths, for whoever opens the folder', async () => {
  const cache = await FileCache.open(folder, { bytes: 1e6 });
  await cache.write('empty', file(0, 0));
  await cache.write('one', file(7));
  const other = await FileCache.open(folder, { bytes: 1e6 });
  expect(Buffer.from((await read(other, 'one'))!)).toEqual(Buffer.from(file(7)));
  expect(await read(other, 'empty')).toHaveLength(0);
  expect(await read(other, 'none')).toBeNull();
});

it('removes what was used least lately when it is too full, and leaves some room', async () => {
  const cache = await FileCache.open(folder, { bytes: 20_000 });
  for (let i = 0; i < 15; i++) await cache.write(`old ${i}`, file(i));
  await age({ written: 10 * MINUTE, used: 10 * MINUTE });
  expect(await read(cache, 'old 3')).not.toBeNull(); // it is used now
  for (let i = 0; i < 10; i++) await cache.write(`new ${i}`, file(i));
  await cache.tidy();
  expect(await bytesThere()).toBeLessThanOrEqual(20_000);
  const left = await Promise.all(Array.from({ length: 15 }, async (_, i) => (await read(cache, `old ${i}`)) !== null));
  expect(left[3]).toBe(true);
  expect(left.filter(Boolean).length).toBeLessThan(10);
  for (let i = 0; i < 10; i++) expect(await read(cache, `new ${i}`)).not.toBeNull();
});

it('stays about as large as it may be while much is written by one', async () => {
  const cache = await FileCache.open(folder, { bytes: 50_000 });
  for (let i = 0; i < 300; i++) {
    await cache.write(`file ${i}`, file(i % 256));
    expect(await bytesThere()).toBeLessThan(50_000 * 1.2);
  }
});

it('takes no file that would drive out many others', async () => {
  const cache = await FileCache.open(folder, { bytes: 20_000 });
  await cache.write('large', file(1, 5_000));
  expect(await names()).toEqual([]);
});

it('reads nothing that is too old, and removes it though nothing is read any more', async () => {
  const cache = await FileCache.open(folder, { bytes: 1e6 });
  await cache.write('one', file(1));
  await age({ written: 59 * MINUTE, used: 0 });
  expect(await read(cache, 'one')).not.toBeNull();
  for (const written of [61 * MINUTE, -61 * MINUTE]) {
    await age({ written, used: 0 });
    expect(await read(cache, 'one')).toBeNull();
  }
  await rm(join(folder, 'tidied'));
  await FileCache.open(folder, { bytes: 1e6 });
  expect(await names()).toEqual([]);
});

it('takes nothing that kill -9 left unfinished for a copy, and removes it when its writer must be dead', async () => {
  const cache = await FileCache.open(folder, { bytes: 1e6 });
  await writeFile(join(folder, '0123.0123456789ab.~'), 'half');
  await cache.tidy();
  expect(await names()).toHaveLength(1);
  await age({ written: 11 * MINUTE, used: 0 });
  await cache.tidy();
  expect(await names()).toEqual([]);
});

it('is whole to every reader while others write and are killed', async () => {
  const writer = new URL('../../../test/support/cache-writer.ts', import.meta.url);
  const loader = new URL('../../../test/support/register-libs.mjs', import.meta.url).href;
  const cache = await FileCache.open(folder, { bytes: 5_000_000 });
  let found = 0;
  for (let round = 0; round < 2; round++) {
    const writers = [1, 2].map(() => fork(writer, [folder], { execArgv: ['--import', loader] }));
    await Promise.all(writers.map((child) => once(child, 'message')));
    for (let i = 0; i < 100; i++) {
      const copy = await read(cache, `file ${i % 10}`);
      if (copy === null) continue;
      found++;
      expect([copy.length, new Set(copy).size]).toEqual([200_000, 1]);
    }
    const ended = writers.map((child) => once(child, 'exit'));
    for (const child of writers) child.kill('SIGKILL');
    await Promise.all(ended);
  }
  expect(found).toBeGreaterThan(0);
});
