import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakePlatform, type FakePlatform } from '../../../test/support/fake-platform.js';
import { ownFile } from '../../../test/support/read-import.js';
import { importFiles, type ImportOptions } from './import-files.js';
import { importerOf } from './importers.js';

/** Of every format; a judge's labels do not go without their rollouts. */
const OWN = globSync(ownFile('**/*.*'))
  .filter((path) => !path.endsWith('judge.jsonl'))
  .toSorted();

let platform: FakePlatform;
let folder: string;

beforeEach(async () => {
  platform = await fakePlatform();
  folder = mkdtempSync(join(tmpdir(), 'recredit-importers-'));
});

afterEach(async () => {
  await platform.close();
  rmSync(folder, { recursive: true, force: true });
});

const into = (options: Partial<ImportOptions> = {}): ImportOptions => ({
  target: { project: 'p', name: 'r', url: platform.url, apiKey: 'rk' },
  patienceMs: 2_000,
  ...options,
});

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const trajectory = (id: string, turns = 2) => ({
  id,
  group: `g-${id[0]}`,
  trainingStep: 3,
  outcomeReward: 1,
  turns: Array.from({ length: turns }, () => ({ state: 's', action: 'a' })),
});
const jsonl = (...values: unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const many = (n: number) => Array.from({ length: n }, (_, i) => trajectory(`${i % 7}-${i}`));
const storedIds = () => platform.events('r').map((event) => ('id' in event ? event.id : event.type));

describe('importing', () => {
  it.each([
    ['lines', (text: string) => text],
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('reads %s as they are', async (name, packed) => {
    const path = file(`x.${name}`, packed(jsonl(...many(20))));
    expect(await importFiles('recredit', [path], into())).toEqual({
      run: 'r',
      files: [{ path, format: 'recredit', why: null }],
      trajectories: 20,
      groups: 7,
      turns: 40,
      annotations: 0,
      skipped: [],
      skippedCount: 0,
      newEvents: 20,
      knownEvents: 0,
    });
    expect(platform.events('r')[0]).toMatchObject({
      type: 'trajectory.recorded',
      at: '1970-01-01T00:00:00Z',
      id: '0-0',
    });
  });

  it('adds nothing the second time, also under another name, and only the rest of a longer version', async () => {
    const text = jsonl(...many(1_300));
    await importFiles('recredit', [file('a.jsonl', text)], into());
    const again = await importFiles('recredit', [file('b.jsonl.gz', gzipSync(text))], into());
    expect(again).toMatchObject({ trajectories: 1_300, newEvents: 0, knownEvents: 1_300 });
    const longer = [file('c.jsonl', jsonl(...many(2_000)))];
    expect(await importFiles('recredit', longer, into())).toMatchObject({ newEvents: 700, knownEvents: 1_300 });
    expect(await importFiles('recredit', longer, into())).toMatchObject({ newEvents: 0, knownEvents: 2_000 });
    expect(storedIds()).toEqual(many(2_000).map(({ id }) => id));
  });

  it('goes on where an import broke off', async () => {
    const path = file('a.jsonl', jsonl(...many(1_300)));
    platform.faults.push(null, 'forbidden');
    await expect(importFiles('recredit', [path], into())).rejects.toMatchObject({
      code: 'role.missing',
      message: expect.stringContaining('import again to go on from there'),
    });
    expect(storedIds()).toHaveLength(500);
    expect(await importFiles('recredit', [path], into())).toMatchObject({ newEvents: 800, knownEvents: 500 });
    expect(storedIds()).toEqual(many(1_300).map(({ id }) => id));
  });

  it('refuses a file that begins alike and then differs, and stores nothing of it', async () => {
    await importFiles('recredit', [file('a.jsonl', jsonl(...many(30)))], into());
    const other = many(30).map((each, i) => (i === 20 ? { ...each, outcomeReward: 0 } : each));
    const path = file('b.jsonl', jsonl(...other));
    await expect(importFiles('recredit', [path], into())).rejects.toMatchObject({ code: 'batch.conflicting' });
    expect(storedIds()).toHaveLength(30);
  });

  it('names what it skips, and stores the rest', async () => {
    const lines = [
      JSON.stringify(trajectory('a')),
      '{"id": "torn',
      JSON.stringify({ ...trajectory('b'), group: 7 }),
      JSON.stringify({ id: 'c' }),
      JSON.stringify(trajectory('a')),
      JSON.stringify({ type: 'run.started', at: '2026-01-01T00:00:00Z', project: 'p', name: 'r' }),
      JSON.stringify(trajectory('d')).replace('"outcomeReward":1', '"outcomeReward":1e999'),
      '[1]',
      JSON.stringify({ type: 'turn.taken' }),
      JSON.stringify(trajectory('e')),
    ];
    const path = file('a.jsonl', lines.join('\n'));
    const result = await importFiles('recredit', [path], into());
    expect(result).toMatchObject({ trajectories: 2, turns: 4, skippedCount: 8 });
    expect(result.skipped.map(({ where, why }) => `${where.replace(path, '')} ${why}`)).toEqual([
      expect.stringContaining(':2 not JSON: '),
      ':3 trajectory.recorded/group: expected string, found 7',
      ':4 expected an event (with its type) or a trajectory (with its turns)',
      ':5 trajectory a stands further up in the same file',
      ':6 the platform writes run.started itself',
      ':7 trajectory.recorded/outcomeReward: expected a finite number, found Infinity',
      ':8 expected an event or a trajectory, found [1]',
      ':9 no event type is called turn.taken',
    ]);
    expect(storedIds()).toEqual(['a', 'e']);
  });

  it("reads the protocol's own events and keeps their time", async () => {
    const at = '2026-01-01T00:00:00Z';
    const turn = { type: 'turn.recorded', at, trajectory: 't', group: 'g', trainingStep: 1, turn: 0, state: 's' };
    const events = [
      turn,
      { ...turn, turn: 1 },
      { type: 'trajectory.ended', at, trajectory: 't', group: 'g', trainingStep: 1, outcomeReward: 1 },
      { type: 'trainingStep.recorded', at, trainingStep: 1, metrics: { loss: 1 } },
      { type: 'trajectory.recorded', at, ...trajectory('u', 3) },
    ];
    const result = await importFiles('recredit', [file('a.jsonl', jsonl(...events))], into());
    expect(result).toMatchObject({ trajectories: 2, groups: 2, turns: 5, newEvents: 5 });
    expect(platform.events('r')).toEqual(events);
  });

  it.each([
    ['a document', JSON.stringify({ note: 'x', trajectories: many(5) })],
    ['a pretty document', JSON.stringify({ trajectories: many(5) }, null, 2)],
    ['an array', JSON.stringify(many(5), null, 1)],
  ])('reads %s of trajectories', async (_, text) => {
    const path = file('a.json', text);
    expect(await importFiles('recredit', [path], into())).toMatchObject({ trajectories: 5, skipped: [] });
  });

  it('reads a damaged archive up to the damage and says so', async () => {
    const packed = gzipSync(jsonl(...many(30_000)));
    const path = file('a.gz', packed.subarray(0, packed.length - 2_000));
    const result = await importFiles('recredit', [path], into());
    expect(result.trajectories).toBeGreaterThan(1_000);
    expect(result.skipped.at(-1)).toMatchObject({
      where: path,
      why: expect.stringContaining('the rest cannot be read'),
    });
  });

  it('imports several files into one run', async () => {
    const paths = [file('a.jsonl', jsonl(trajectory('a'))), file('b.jsonl', jsonl(trajectory('b')))];
    expect(await importFiles('recredit', paths, into())).toMatchObject({ trajectories: 2, groups: 2, newEvents: 2 });
    expect(await importFiles('recredit', paths.toReversed(), into())).toMatchObject({ trajectories: 2, newEvents: 0 });
  });

  it.each(OWN.map((path) => [relative(ownFile('.'), path), path]))(
    'adds nothing of %s the second time',
    async (_, path) => {
      const first = await importFiles('auto', [path], into());
      expect(first).toMatchObject({ knownEvents: 0, files: [{ format: relative(ownFile('.'), path).split('/')[0] }] });
      const stored = platform.events('r');
      expect(first.newEvents).toBe(stored.length);
      const again = await importFiles('auto', [path], into());
      expect(again).toMatchObject({ newEvents: 0, knownEvents: stored.length });
      expect(platform.events('r')).toEqual(stored);
    },
  );

  it('adds nothing the second time of traces that lie in several files', async () => {
    const folderOfTraces = ownFile('otlp');
    expect(await importFiles('otlp', [folderOfTraces], into())).toMatchObject({ trajectories: 4, newEvents: 4 });
    expect(await importFiles('auto', [folderOfTraces], into())).toMatchObject({ newEvents: 0, knownEvents: 4 });
    expect(storedIds().map((id) => String(id)[0])).toEqual(['b', 'a', 'd', 'e']);
  });

  it('imports a folder, its files in the order of the numbers in their names', async () => {
    const line = (step: number) => jsonl({ input: 'a', output: `${step}`, score: 1, step });
    mkdirSync(join(folder, 'rollouts'));
    for (const step of [10, 9, 100]) file(`rollouts/${step}.jsonl`, line(step));
    const result = await importFiles('auto', [join(folder, 'rollouts')], into());
    expect(result.files.map(({ path, format }) => `${format} ${basename(path)}`)).toEqual([
      'verl 9.jsonl',
      'verl 10.jsonl',
      'verl 100.jsonl',
    ]);
    expect(platform.events('r').map((event) => 'trainingStep' in event && event.trainingStep)).toEqual([9, 10, 100]);
    file('rollouts/README.md', 'What these are.');
    file('rollouts/model.pt', Buffer.from([0x80, 4, 0, 0]));
    file('rollouts/torn.jsonl', `${line(7).trim()}\n{"torn`);
    file('rollouts/other.jsonl', jsonl({ input: 'a', output: 'b', score: 'high', step: 1 }));
    const mixed = await importFiles('auto', [join(folder, 'rollouts')], into());
    expect(mixed).toMatchObject({ newEvents: 1, knownEvents: 3, skippedCount: 5 });
    expect(mixed.skipped.map(({ where }) => basename(where))).toEqual([
      'model.pt',
      'README.md',
      'other.jsonl:1',
      'other.jsonl',
      'torn.jsonl:2',
    ]);
    mkdirSync(join(folder, 'empty'));
    await expect(importFiles('auto', [join(folder, 'empty')], into())).rejects.toMatchObject({
      message: expect.stringContaining('a folder without files'),
    });
  });

  it('takes files whose names or settings say different things for different sources', async () => {
    const path = ownFile('nemo-rl/train_data_step7.jsonl');
    const renamed = file('train_data_step8.jsonl', readFileSync(path));
    await importFiles('nemo-rl', [path], into());
    expect(await importFiles('nemo-rl', [renamed], into())).toMatchObject({ newEvents: 3, knownEvents: 0 });
    const policies = ['a', 'b'].map((policy) =>
      into({ settings: { policy }, target: { ...into().target, name: 'policies' } }),
    );
    for (const options of policies) {
      const imported = await importFiles('intercode', [ownFile('intercode/policy-a.json')], options);
      expect(imported).toMatchObject({ newEvents: 3 });
    }
    expect(new Set(platform.events('policies').map((event) => 'id' in event && event.id)).size).toBe(6);
  });

  it('reads on without keeping what it has read', async () => {
    const read = importerOf('verl').reader();
    async function* endless() {
      for (let step = 0; ; step++) yield Buffer.from(jsonl({ input: 'a', output: `${step}`, score: 1, step }));
    }
    let records = 0;
    for await (const parsed of read({ path: 'x', bytes: endless() })) {
      expect(parsed.kind).toBe('trajectory');
      if (++records === 5_000) break;
    }
    expect(records).toBe(5_000);
  });

  it.each([
    ['recredit', 'pickle.pt', Buffer.from([0x80, 2, 0, 0]), /is a Python pickle/],
    ['recredit', 'zip.pt', Buffer.from('PK\u0003\u0004'), /is a zip archive/],
    ['tau-bench', 'other.json', '{"a":1}', /holds nothing that can be read as tau-bench .* no JSON array/],
    ['tau-bench', 'other.json', '[{"a":1}]', /holds nothing that can be read as tau-bench .*\[0\]: .*task_id/],
    ['recredit', 'empty', '', /holds nothing/],
    [
      'verl',
      'x.parquet',
      readFileSync(ownFile('trl/completions_00003.parquet')),
      /is Parquet, which of all formats trl is/,
    ],
    ['trl', 'x.parquet', '{"step":1}', /holds nothing that can be read as TRL completions; .*parquet/],
    ['verl', 'torn.gz', gzipSync('{}').subarray(0, 12), /holds nothing .* the rest cannot be read/],
    ['auto', 'torn.gz', gzipSync('{}').subarray(0, 12), /holds no JSON object/, 'format.unknown'],
    ['auto', 'pickle.pt', Buffer.from([0x80, 4, 0, 0]), /is a Python pickle/],
  ])('as %s it refuses %s with a reason', async (format, name, content, why, code = 'file.invalid') => {
    const path = file(name, content);
    await expect(importFiles(format, [path], into())).rejects.toMatchObject({
      code,
      message: expect.stringMatching(why),
    });
    expect(platform.requests).toEqual([]);
  });

  it('refuses a file that is not there, and a format nobody knows', async () => {
    await expect(importFiles('recredit', ['/nowhere'], into())).rejects.toMatchObject({ code: 'file.invalid' });
    await expect(importFiles('csv', [], into())).rejects.toMatchObject({
      code: 'format.unknown',
      message: expect.stringContaining('tau-bench'),
    });
  });

  it('gives up on a server that does not answer, with a reason, and leaves nothing behind', async () => {
    const path = file('a.jsonl', jsonl(...many(3)));
    await platform.close();
    const temporary = () => readdirSync(tmpdir()).filter((name) => name.startsWith('recredit-import-'));
    const before = temporary();
    await expect(importFiles('recredit', [path], into({ patienceMs: 50 }))).rejects.toMatchObject({
      code: 'database.unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(temporary()).toEqual(before);
    platform = await fakePlatform();
  });
});
