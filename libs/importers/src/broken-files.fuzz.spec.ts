import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { checkBatch } from '#lib/protocol';
import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fakePlatform, type FakePlatform } from '../../../test/support/fake-platform.js';
import { ownFile } from '../../../test/support/read-import.js';
import { importFiles } from './import-files.js';
import { previewFiles } from './preview-files.js';

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
    const { trajectories, groups, turns, annotations, skippedCount } = await previewFiles(format, [path]);
    expect(result).toMatchObject({ trajectories, groups, turns, annotations, skippedCount });
    return result;
  } catch (error) {
    if (error instanceof RecreditError && ['file.invalid', 'format.unknown'].includes(error.code)) {
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

/** Our own small files, by path. */
const OWN = globSync(ownFile('**/*.*')).map((path) => relative(ownFile('.'), path));
const formatOf = (path: string) => path.split('/')[0];

it('reads damaged files of every format', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...OWN),
      fc.nat(100_000),
      fc.nat(255),
      fc.boolean(),
      fc.boolean(),
      async (path, at, byte, isCut, isNamed) => {
        const bytes = readFileSync(ownFile(path));
        const damaged = isCut ? bytes.subarray(0, at % bytes.length) : bytes;
        if (!isCut) damaged[at % bytes.length] = byte;
        await imported(isNamed ? formatOf(path) : 'auto', damaged);
      },
    ),
    { numRuns: RUNS * 3 },
  );
}, 600_000);

it('takes or names records of every format in which one value is another one', async () => {
  const texts = OWN.filter((path) => !path.endsWith('.parquet'));
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(null, -1, 1e308, '', '\u0000', 'x'.repeat(600), '__proto__', [[]], { constructor: 1 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...texts), fc.nat(10_000), values, async (path, at, value) => {
      const text = readFileSync(ownFile(path), 'utf8').replaceAll('NaN', 'null');
      const records = path.endsWith('.json') ? [text] : text.trim().split('\n');
      const changed = records.map((record) => JSON.stringify(replaced(JSON.parse(record), at, value)));
      await imported(formatOf(path), Buffer.from(changed.join('\n')));
    }),
    { numRuns: RUNS * 5 },
  );
}, 600_000);

/** The document with its n-th value, counted depth first and round and round, replaced. */
function replaced(document: unknown, n: number, other: unknown): unknown {
  let size = 0;
  JSON.stringify(document, (_, value: unknown) => (size++, value));
  let left = n % size;
  return JSON.parse(JSON.stringify(document, (_, value: unknown) => (left-- === 0 ? other : value)) ?? 'null');
}
