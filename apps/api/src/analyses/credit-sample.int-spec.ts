import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const STEPS = 15;
let api: TestApi;
let key: string;
let analysis: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool, 'p');
  key = await api.key(project, 'read', 'analyze');
  const run = await aRun(api.db.ownerPool, { project, name: 'r' });
  for (let step = 0; step < STEPS; step++) await api.append(run, aTrainingStep(step));
  const { data } = await api.ask(
    key,
    `mutation { startAnalysis(input: { runs: [{ run: "r" }], estimators: [{ id: "grpo" }, { id: "discounted-return" }, { id: "gae" }] }) { id } }`,
  );
  analysis = data.startAnalysis.id;
  await api.work(analysis, [run]);
});

afterAll(() => api?.close());

const FIELDS = 'sampled ofTurns shards ofShards x y run trainingStep trajectory turn';

async function sample(x: string, y: string, points?: number) {
  const { data, errors } = await api.ask(
    key,
    `query ($points: Int) { analysis(id: "${analysis}") { creditSample(x: "${x}", y: "${y}", points: $points) { ${FIELDS} } } }`,
    points === undefined ? {} : { points },
  );
  return { found: data?.analysis?.creditSample, errors };
}

it('lays the credit of two estimators side by side, turn by turn, as the trajectories have it', async () => {
  const { found, errors } = await sample('grpo', 'discounted-return');
  expect(errors).toBeUndefined();
  expect(found).toMatchObject({ sampled: true, ofTurns: 12 * 12, shards: 12, ofShards: STEPS }); // 4 trajectories of 3 turns
  expect(found.x).toHaveLength(12 * 12);
  expect(Math.max(...found.trainingStep)).toBeGreaterThan(10);
  for (const i of [0, 40, 100]) {
    const { data } = await api.ask(
      key,
      `query ($of: ID!) { trajectory(run: "${found.run[i]}", id: $of) { trainingStep turns { edges { node { credit(analysis: "${analysis}") { estimator credit } } } } } }`,
      { of: found.trajectory[i] },
    );
    const { trainingStep, turns } = data.trajectory;
    expect(trainingStep).toBe(found.trainingStep[i]);
    const said = turns.edges[found.turn[i]].node.credit;
    const of = (label: string) => said.find(({ estimator }: { estimator: string }) => estimator === label).credit;
    expect([of('grpo'), of('discounted-return')]).toEqual([found.x[i], found.y[i]]);
  }
});

it('keeps to the number of points, and is empty where one of the two is silent', async () => {
  const { found } = await sample('grpo', 'discounted-return', 24);
  expect(found.x).toHaveLength(24);
  expect(found).toMatchObject({ sampled: true, ofTurns: 144 });
  expect((await sample('grpo', 'gae')).found).toMatchObject({ ofTurns: 0, x: [], trajectory: [] });
});

it('refuses what is no estimator of the analysis, and points without end', async () => {
  expect((await sample('grpo', 'rloo')).errors).toMatchObject([{ extensions: { code: 'query.invalid' } }]);
  expect((await sample('grpo', 'grpo', 1e6)).errors).toMatchObject([{ extensions: { code: 'query.invalid' } }]);
});

it('says what the results took, by estimator and device', async () => {
  const { data } = await api.ask(key, `{ analysis(id: "${analysis}") { costs { estimator device shards seconds } } }`);
  const { costs } = data.analysis;
  expect(costs.map(({ estimator }: { estimator: string }) => estimator)).toEqual(['grpo', 'discounted-return', 'gae']);
  for (const cost of costs) {
    expect(cost).toMatchObject({ device: 'cpu', shards: STEPS });
    expect(cost.seconds).toBeGreaterThan(0);
  }
});
