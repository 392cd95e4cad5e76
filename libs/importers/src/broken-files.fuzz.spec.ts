import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { checkBatch } from '#lib/protocol';
import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fakePlatform, type FakePlatform } from '../../../test/support/fake-platform.js';
import { importFiles } from './import-files.js';

const RUNS = Number(process.env.RECREDIT_FUZZ_RUNS ?? 60);

let platform: FakePlatform;
let folder: string;

beforeEach(async () => {
  platform = await fakePlatform();
  folder = mkdtempSync(join(tmpdir(), 'recredit-broken-'));
});

afterEach(async () => {
  await platform.close();
  rmSync(folder, { recursive: true, force: true });
});

const trajectory = (i: number) => ({
  id: `t${i}`,
  group: `g${i % 3}`,
  trainingStep: 0,
  outcomeReward: 1,
  turns: [{ state: 's', action: 'a', reward: 1 }],
});
const episode = (i: number) => ({
  task_id: i,
  trial: 0,
  reward: 1,
  traj: [
    { role: 'system', content: 'x' },
    { role: 'assistant', content: 'y', tool_calls: null },
  ],
  info: { task: { user_id: 'u' }, reward_info: null },
});

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.replaceAll('\n', ' ')),
  fc.constantFrom('{"id":"x","group":"g","trainingStep":0,"turns":1}', '{"id":"x","group":"g","trainingStep":1e99,"turns":[]}', '{"type":"constructor"}', '{"__proto__":1,"turns":[]}', '[', `${'['.repeat(2e4)}${']'.repeat(2e4)}`, `{"turns":${'['.repeat(2e4)}${']'.repeat(2e4)}}`), // prettier-ignore
);

/** Some records, and junk among them. */
const mixed = (record: (i: number) => object) =>
  fc
    .array(fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, junk), { minLength: 1, maxLength: 12 })
    .map((parts) => ({
      texts: parts.map((part, i) => part ?? JSON.stringify(record(i))),
      whole: parts.filter((part) => part === null).length,
    }));

const packed = (text: string, how: number): Buffer =>
  how === 1 ? gzipSync(text) : how === 2 ? zstdCompressSync(Buffer.from(text)) : Buffer.from(text);

let files = 0;

/** Imports, and says what came of it; whatever the file holds, nothing but a coded refusal is thrown. */
async function imported(format: string, content: Buffer) {
  const path = join(folder, `file-${files++}`);
  const name = `run-${files}`;
  writeFileSync(path, content);
  const target = { project: 'p', name, url: platform.url, apiKey: 'rk' };
  try {
    const result = await importFiles(format, [path], { target, patienceMs: 5_000 });
    const stored = platform.events(name);
    checkBatch(Buffer.from(stored.map((event) => JSON.stringify(event)).join('\n')));
    expect(stored).toHaveLength(result.newEvents);
    expect(result.skipped.length).toBe(Math.min(result.skippedCount, 1_000));
    for (const { where, why } of result.skipped) expect([where.startsWith(path), why.length > 0]).toEqual([true, true]);
    return result;
  } catch (error) {
    if (error instanceof RecreditError && error.code === 'file.invalid') {
      expect(platform.events(name)).toEqual([]);
      return null;
    }
    throw error;
  }
}

it('takes the whole records of a file and names the others', async () => {
  await fc.assert(
    fc.asyncProperty(mixed(trajectory), fc.nat(2), async ({ texts, whole }, how) => {
      const result = await imported('recredit', packed(texts.join('\n'), how));
      const ours = result ? result.trajectories : 0;
      // where the first line is no record the file may be read as a document, of which nothing is left
      if (texts[0].startsWith('{"id":"t')) expect(ours).toBeGreaterThanOrEqual(whole);
    }),
    { numRuns: RUNS },
  );
}, 600_000);

it.each([
  ['recredit', trajectory],
  ['tau-bench', episode],
])(
  'reads a JSON array as %s with whatever among it',
  async (format, record) => {
    await fc.assert(
      fc.asyncProperty(mixed(record), fc.nat(2), async ({ texts }, how) => {
        await imported(format, packed(`[${texts.join(',\n')}]`, how));
      }),
      { numRuns: RUNS },
    );
  },
  600_000,
);

it('reads a file that breaks off anywhere, and bytes of any kind', async () => {
  const text = Array.from({ length: 40 }, (_, i) => `${JSON.stringify(trajectory(i))}\n`).join('');
  const episodes = JSON.stringify(Array.from({ length: 10 }, (_, i) => episode(i)));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('recredit', 'tau-bench'),
      fc.nat(2),
      fc.oneof(
        fc.nat(10_000).map((cut) => (bytes: Buffer) => bytes.subarray(0, cut % bytes.length)),
        fc.tuple(fc.nat(10_000), fc.nat(255)).map(([at, byte]) => (bytes: Buffer) => {
          const struck = Buffer.from(bytes);
          struck[at % bytes.length] = byte;
          return struck;
        }),
        fc.uint8Array({ maxLength: 100 }).map((bytes) => () => Buffer.from(bytes)),
      ),
      async (format, how, damage) => {
        await imported(format, damage(packed(format === 'recredit' ? text : episodes, how)));
      },
    ),
    { numRuns: RUNS },
  );
}, 600_000);
