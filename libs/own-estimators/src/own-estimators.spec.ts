import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ESTIMATORS, estimate, runEstimator } from '#lib/credit';
import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catalogueWith, estimationWith } from './estimation-with.js';
import { problemIn } from './import-module.js';
import { loadModule } from './load-module.js';
import type { OwnEstimator, OwnModule } from './own-estimator.js';
import { readOwnEstimators } from './read-own-estimators.js';

const EXAMPLES = join(import.meta.dirname, '../../../docs/examples/estimators');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-own-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** In this thread: what ends one, or never ends, is tested on the build (test/e2e). */
const here = {
  describe: async (module: OwnModule) => {
    const refuse = (error: unknown) => {
      throw new Error(`${module.file}: ${problemIn(module, error)}`);
    };
    return (await loadModule(module).catch(refuse)).description;
  },
  run: async (own: OwnEstimator, trajectories: TrajectoryBatch, params: object) =>
    runEstimator((await loadModule(own)).estimator, trajectories, params),
  close: async () => {},
};
const read = (from = folder) => readOwnEstimators(from, here);
const write = (name: string, source: string) => writeFileSync(join(folder, name), source);

/** A module with the fields that each one needs, and those given. */
const moduleOf = (rest: string, id = 'mine') => `export default {
  id: '${id}', title: 'mine', gives: 'advantage', levels: ['trajectory'], requires: ['trajectory.outcomeReward'],
  ${rest}
};`;

const records = [
  { id: 'a', group: 'g', trainingStep: 0, outcomeReward: 1, turns: [{}, {}] },
  { id: 'b', group: 'g', trainingStep: 0, outcomeReward: 0, turns: [{}] },
];

async function estimated(estimate: string) {
  write('mine.mjs', moduleOf(estimate));
  const [own] = await read();
  return here.run(own, trajectoryBatch(records), {});
}

describe('the example of the guide', () => {
  it('is listed with its hash, and gives what it says', async () => {
    const own = await read(EXAMPLES);
    const { catalogue, run } = estimationWith(own, here);
    const listed = catalogue.find(({ id }) => id === 'price-per-turn')!;
    expect(catalogue.slice(0, ESTIMATORS.length)).toEqual(ESTIMATORS);
    expect(listed).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{12}$/), status: 'own', version: 0 });

    const outcome = await run(listed, trajectoryBatch(records), { price: 0.1 });
    // 1 - 0.2 and 0 - 0.1, against their mean 0.35
    if (outcome.kind !== 'credit') throw new Error('it says nothing');
    expect([...outcome.credit.values]).toEqual([expect.closeTo(0.45, 12), expect.closeTo(-0.45, 12)]);
    expect([...outcome.credit.explain!.trajectoryReward.values]).toEqual([0.8, -0.1]);
    const { estimator } = await loadModule(own[0]);
    expect(estimate(estimator, records)).toMatchObject({ hash: own[0].hash, params: { price: 0.01 } });
  });

  it('stands in the guide as it is', () => {
    const guide = readFileSync('docs/guides/your-own-estimator.md', 'utf8');
    expect(guide).toContain(readFileSync(join(EXAMPLES, 'price-per-turn.mjs'), 'utf8').replace(/^(\/\/.*\n)+/, ''));
  });
});

it('states are identified once for all estimators that read them alike', async () => {
  const batch = trajectoryBatch(records);
  const { identify } = estimationWith([], here);
  const [fullHistory, generic] = [false, true].map((excludeGeneric) => ({
    by: 'fullHistory' as const,
    excludeGeneric,
  }));
  expect(await identify(batch, { ...fullHistory })).toBe(await identify(batch, { ...fullHistory }));
  expect(await identify(batch, generic)).not.toBe(await identify(batch, fullHistory));
  expect(await identify(trajectoryBatch(records), fullHistory)).not.toBe(await identify(batch, fullHistory));
});

describe('reading the folder', () => {
  it('takes modules by name, and leaves all else alone', async () => {
    write('b.js', moduleOf('estimate() {}', 'second'));
    write('a.mjs', moduleOf('estimate() {}', 'first'));
    write('notes.md', 'none');
    expect((await read()).map(({ description }) => description.id)).toEqual(['first', 'second']);
    expect(await readOwnEstimators(null)).toEqual([]);
  });

  it('gives a changed file another hash', async () => {
    write('a.mjs', moduleOf('estimate() {}'));
    const [{ hash }] = await read();
    write('a.mjs', moduleOf('estimate() { }'));
    expect((await read())[0].hash).not.toBe(hash);
  });

  it.each([
    ['a syntax error', `${moduleOf('')}\nlet let`, /SyntaxError/],
    ['no default export', 'export const x = 1', /export default an object/],
    ['a missing field', 'export default { id: "mine", estimate() {} }', /title.*levels/],
    ['a misspelt field', moduleOf('estimate() {}, require: []'), /Unrecognized key: "require"/],
    ['no estimate', moduleOf(''), /expected a function at estimate/],
    ['a signal without a level', moduleOf(`accepts: ['reward'], estimate() {}`), /accepts\[0\]/],
    ['params that are no JSON Schema', moduleOf(`params: { type: 'objekt' }, estimate() {}`), /params: no JSON Schema/],
    ['a bound that is no number', moduleOf(withParam(`minimum: 'x', default: 1`)), /params: no JSON Schema/],
    ['a param without a default', moduleOf(withParam('')), /every param needs a default: a/],
    ['a default that is not allowed', moduleOf(withParam('minimum: 2, default: 1')), /defaults are not allowed/],
    ['an import of another file', `import './other.mjs';\n${moduleOf('estimate() {}')}`, /imports \.\/other\.mjs/],
    ['an import of a package', `import { z } from 'zod';\n${moduleOf('estimate() {}')}`, /imports zod/],
    ['code that throws at once', `null.x;\n${moduleOf('estimate() {}')}`, /TypeError: Cannot read/],
    ['the id of one of ours', moduleOf('estimate() {}', 'grpo'), /its id grpo is taken by the catalogue/],
  ])('refuses %s', async (_, source, reason) => {
    write('x.mjs', source);
    await expect(read()).rejects.toThrow(reason);
    await expect(read()).rejects.toThrow(join(folder, 'x.mjs'));
  });

  it('refuses the id of another one, naming both', async () => {
    write('a.mjs', moduleOf('estimate() {}'));
    write('b.mjs', moduleOf('estimate() {}'));
    await expect(read()).rejects.toThrow(`${join(folder, 'b.mjs')}: its id mine is taken by ${join(folder, 'a.mjs')}`);
  });

  it('refuses a folder that is not there', async () => {
    await expect(read(join(folder, 'none'))).rejects.toMatchObject({ code: 'config.invalid' });
  });
});

function withParam(rest: string): string {
  return `params: { type: 'object', properties: { a: { type: 'number', ${rest} } } }, estimate() {}`;
}

describe('a module that runs', () => {
  it.each([
    ['throws', 'estimate() { throw new RangeError("too far"); }', /RangeError: too far/],
    ['gives too few rows', `estimate() { return { level: 'trajectory', values: [1] }; }`, /credit has 1 rows/],
    ['gives another level', `estimate() { return { level: 'turn', values: [1, 2, 3] }; }`, /has no level turn/],
    ['gives no number at all', `estimate() { return { level: 'trajectory', values: [null, NaN] }; }`, /none of 2 rows/],
    ['gives nothing', 'estimate() {}', /gave no credit/],
    ['gives a promise', 'async estimate() {}', /gave a promise/],
    ['gives texts', `estimate() { return { level: 'trajectory', values: ['a', 'b'] }; }`, /gave no credit: values/],
  ])('and %s fails with the reason', async (_, source, reason) => {
    const failure = await estimated(source).catch((error: unknown) =>
      problemIn({ file: join(folder, 'mine.mjs') }, error),
    );
    expect(failure).toMatch(reason);
  });

  it('may leave rows out', async () => {
    const outcome = await estimated(`estimate() { return { level: 'trajectory', values: [0.5, null] }; }`);
    expect(outcome).toMatchObject({ kind: 'credit', credit: { values: Float64Array.of(0.5, NaN) } });
    expect(outcome).toMatchObject({ warnings: ['no credit on 1 of 2 trajectory rows: its module gave none'] });
  });

  it('says which signal is missing as all others do', async () => {
    write('mine.mjs', moduleOf('estimate() {}'));
    const [own] = await read();
    const outcome = await here.run(own, trajectoryBatch([{ ...records[0], outcomeReward: null }]), {});
    expect(outcome).toEqual({ kind: 'missing', missing: [{ path: 'trajectory.outcomeReward', rows: 1, of: 1 }] });
  });

  it('runs nowhere but in its thread', async () => {
    const own = await read(EXAMPLES);
    const listed = catalogueWith(own).at(-1)!;
    expect(() => runEstimator(listed, trajectoryBatch(records))).toThrow('in a thread of its own');
  });
});
