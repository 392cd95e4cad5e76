import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await testApi();
  key = await api.key(await aProject(api.db.ownerPool, 'p'), 'read', 'analyze');
});

afterAll(() => api?.close());

/** An analysis of a run of its own, computed or not. @returns its id */
async function analysisOf(name: string, estimators: string, isComputed = true): Promise<string> {
  const { rows } = await api.db.ownerPool.query(`select id from project where name = 'p'`);
  const run = await aRun(api.db.ownerPool, { project: rows[0].id, name });
  await api.append(run, aTrainingStep(0));
  await api.project(run);
  const { data } = await api.ask(
    key,
    `mutation { startAnalysis(input: { runs: [{ run: "${name}" }], estimators: [${estimators}] }) { id } }`,
  );
  if (isComputed) await api.work(data.startAnalysis.id, [run]);
  return data.startAnalysis.id;
}

const difference = (analysis: string, against: string) =>
  api.ask(
    key,
    `{ comparisonDifference(analysis: "${analysis}", against: "${against}") {
       first second shareRuns onlyFirst onlySecond outcomes estimators truths } }`,
  );

it('holds an analysis of one run against that of another', async () => {
  const first = await analysisOf('a', '{ id: "grpo" }, { id: "rloo" }');
  const second = await analysisOf('b', '{ id: "grpo", params: { normalizeByStd: false } }');
  const { data, errors } = await difference(first, second);
  expect(errors).toBeUndefined();
  const found = data.comparisonDifference;
  expect(found).toMatchObject({ first, second, shareRuns: false, onlyFirst: ['rloo'], onlySecond: [] });
  expect(found.estimators).toMatchObject([{ estimator: 'grpo', differsIn: ['params'] }]);
  // outcomes lie within [0, 1], so their standard deviation is below 1, and dividing by it spreads the credit
  const { difference: spread } = found.estimators[0].numbers.find(({ number }: any) => number === 'std');
  expect(spread).toBeLessThan(0);
  expect(found.truths).toMatchObject([{ signal: 'exactAdvantage', estimator: 'grpo' }]);
  expect((await difference(first, first)).data.comparisonDifference.shareRuns).toBe(true);
});

it('knows no analysis that is not seen, and says where there is nothing to compare yet', async () => {
  const first = await analysisOf('c', '{ id: "grpo" }');
  expect((await difference(first, 'nobody')).data).toEqual({ comparisonDifference: null });
  const open = await analysisOf('d', '{ id: "grpo" }', false);
  expect((await difference(first, open)).errors).toMatchObject([{ extensions: { code: 'request.invalid' } }]);
});
