import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWhole } from './read-whole.js';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'recredit-read-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Memory that somebody else used before. */
const used = (bytes: number) => new Uint8Array(bytes).fill(0x5a);

it.each([
  ['all that was asked for', 5, [1, 2, 3, 4, 5]],
  ['the first bytes', 3, [1, 2, 3]],
  ['what is left of a file that was cut off, and nothing of what lay in the memory', 9, [1, 2, 3, 4, 5]],
  ['nothing', 0, []],
])('reads %s', async (_, size, want) => {
  const path = join(folder, 'file');
  await writeFile(path, Uint8Array.of(1, 2, 3, 4, 5));
  await using file = await open(path);
  expect([...(await readWhole(file, size, used))]).toEqual(want);
});
