import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { decodeJson, readTrajectories } from '#lib/otlp';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';
import { jsonOf, NO_PARENT, shop, traced, tracedAgent } from '../../../test/support/traced-agent.js';
import { openRecords, sourceFiles } from './source-files.js';

const FIRST = ownFile('otlp/traces-1.jsonl');
const SECOND = ownFile('otlp/traces-2.jsonl');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-otlp-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

it('puts a trace together from the lines and the files that it came in', async () => {
  const { trajectories, skipped } = await readImport('otlp', [FIRST, SECOND]);
  expect(
    trajectories.map(({ id, outcomeReward, turns }) => [id[0], outcomeReward, turns.map(({ action }) => action)]),
  ).toEqual([
    ['b', 0, ['respond:4 EUR']],
    ['a', 1, ['price{"in":"EUR","of":"tea"}', 'respond:3 EUR']],
    ['d', 0.5, ['price{"in":"EUR","of":"tea"}', 'respond:2 EUR']],
    ['e', undefined, ['respond:5 EUR']],
  ]);
  expect(trajectories[1]).toMatchObject({
    id: `${'a'.repeat(32)}-${'a'.repeat(15)}f`,
    trainingStep: 2,
    success: true,
    turns: [{ state: 'user:How much is tea?' }, { state: 'tool:{"price":3}' }],
    source: { run: 'shop-agent' },
  });
  expect(trajectories[0].group).toBe(trajectories[1].group);
  expect(skipped).toEqual([
    { where: ':3', why: 'no spans are in it' },
    { where: ':5', why: `trace ${'c'.repeat(32)}: no inference span is among them (spans: 1)` },
  ]);
});

it('names the spans whose parent is in no file, and does not guess', async () => {
  const { trajectories, skipped } = await readImport('otlp', [FIRST]);
  expect(trajectories.map(({ id }) => id[0])).toEqual(['b', 'a']);
  expect(skipped.at(-1)).toEqual({
    where: ':6',
    why: `trace ${'d'.repeat(32)}: their parent is in none of the files (spans: 1)`,
  });
});

it('takes the trajectories of one run where a file has those of several', async () => {
  const other = readFileSync(SECOND, 'utf8').replaceAll('shop-agent', 'other-agent');
  const { trajectories, skipped } = await readImport('otlp', [file('a.jsonl', other)], { from: 'shop-agent' });
  expect(trajectories).toEqual([]);
  expect(skipped.map(({ why }) => why)).toContain(`trace ${'e'.repeat(32)} is of other-agent, not of shop-agent`);
});

it('is the same however the spans fall into exports and files, and as if they had come in one', async () => {
  const agent = tracedAgent({ 'service.name': 'shop-agent' });
  for (const question of ['Tea?', 'Coffee?', 'Tea?']) shop(agent.tracer, { 'recredit.outcome_reward': 1 }, question);
  traced(agent.tracer, NO_PARENT, 'GET /', { at: 0, attributes: {} });
  const ended = agent.ended();
  const whole = readTrajectories(decodeJson(jsonOf(ended).toString()));
  const byId = (records: readonly object[]) =>
    records.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const wanted = byId(
    whole.trajectories.map(({ event: { type: _type, ...record }, run }) => ({ ...record, source: { run } })),
  );
  expect(wanted).toHaveLength(3);

  const shuffled = fc.shuffledSubarray([...ended.keys()], { minLength: ended.length });
  const cuts = fc.array(fc.nat(ended.length), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(shuffled, cuts, fc.nat(8), fc.boolean(), async (order, at, split, isPacked) => {
      const edges = [0, ...at.toSorted((a, b) => a - b), ended.length];
      const lines = edges.slice(1).map((to, i) => jsonOf(order.slice(edges[i], to).map((n) => ended[n])).toString());
      const parts = [lines.slice(0, split), lines.slice(split)].map((part) => part.map((line) => `${line}\n`).join(''));
      const paths = parts.map((part, i) => file(`${i}.jsonl`, isPacked ? gzipSync(part) : part));
      const { trajectories } = await readImport('otlp', paths);
      expect(byId(trajectories)).toEqual(wanted);
    }),
    { numRuns: 60 },
  );
});

it('reads one document and an array of exports', async () => {
  const exports = readFileSync(FIRST, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as { resourceSpans?: object[] }); // prettier-ignore
  const document = { resourceSpans: exports.flatMap(({ resourceSpans }) => resourceSpans ?? []) };
  for (const [name, value] of [
    ['document.json', document],
    ['array.json', exports],
  ] as const) {
    const { trajectories } = await readImport('auto', [file(name, JSON.stringify(value, null, 2))]);
    expect(trajectories.map(({ id }) => id[0]).toSorted()).toEqual(['a', 'b']);
  }
});

it('gives a trace as soon as nothing more of it comes, without reading on', async () => {
  const one = readFileSync(SECOND, 'utf8').split('\n')[1];
  const traces = Array.from({ length: 3_000 }, (_, i) => `f${i.toString(16).padStart(31, '0')}`);
  const path = file('many.jsonl', traces.map((trace) => `${one.replace('e'.repeat(32), trace)}\n`).join(''));
  const opened = await openRecords((await sourceFiles('otlp', [path])).files[0]);
  const found: string[] = [];
  let readAtFirst = 0;
  for await (const parsed of opened.records) {
    readAtFirst ||= opened.read();
    if (parsed.kind === 'trajectory') found.push(parsed.trajectory.id.slice(0, 32));
  }
  expect(found).toEqual(traces);
  expect(readAtFirst).toBeLessThan(opened.size / 2);
});
