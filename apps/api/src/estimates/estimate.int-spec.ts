import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject } from '../../../../test/support/rows.js';

let api: TestApi;
let key: string;
let project: string;

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool);
  key = await api.key(project, 'analyze');
});

afterAll(() => api?.close());

const QUERY = `query ($input: EstimateInput!) { estimate(input: $input) {
  estimator version hash params level missing { path rows of recordedAs } trajectoryAdvantage turnAdvantage tokenAdvantage columns groups warnings
} }`;

const rollout = (id: string, outcomeReward: number, turns = 2, rest: object = {}) => ({
  id,
  group: 'g',
  trainingStep: 0,
  outcomeReward,
  turns: Array.from({ length: turns }, () => ({ state: 's', action: 'a' })),
  ...rest,
});

const estimate = (input: object, as = key) =>
  api.ask(as, QUERY, { input: { estimator: 'grpo', trajectories: [], ...input } });

it('gives the credit of trajectories that are sent along, in their order', async () => {
  const trajectories = [rollout('a', 1), rollout('b', 0, 1), rollout('c', 0.5, 0)];
  const { data, errors } = await estimate({ trajectories, params: { normalizeByStd: false } });
  expect(errors).toBeUndefined();
  expect(data.estimate).toMatchObject({
    estimator: 'grpo',
    hash: null,
    missing: [],
    level: 'trajectory',
    trajectoryAdvantage: [0.5, -0.5, 0],
    turnAdvantage: [[0.5, 0.5], [-0.5], []],
    groups: ['g'],
  });
});

it('says which signals are missing, and nothing else', async () => {
  const { data } = await estimate({
    trajectories: [rollout('a', 1, 1, { outcomeReward: null, signals: { outcomereward: 1 } }), rollout('b', 0)],
  });
  expect(data.estimate).toMatchObject({
    missing: [{ path: 'trajectory.outcomeReward', rows: 1, of: 2, recordedAs: 'trajectory.outcomereward' }],
    level: null,
    trajectoryAdvantage: null,
    warnings: [],
  });
});

it('takes the role analyze', async () => {
  const reader = await api.key(project, 'read', 'ingest');
  expect((await estimate({}, reader)).errors).toMatchObject([{ extensions: { code: 'role.missing' } }]);
});

it.each<[string, object, string, string]>([
  ['an estimator that there is not', { estimator: 'grpoo' }, 'estimator.unknown', 'grpoo'],
  ['a param that there is not', { params: { gama: 1 } }, 'params.invalid', 'gama'],
  ['no list', { trajectories: { a: 1 } }, 'request.invalid', 'trajectories: expected a list'],
  ['a record without turns', { trajectories: [rollout('a', 1), { id: 'b' }] }, 'request.invalid', 'trajectories/1/'],
  ['one id twice', { trajectories: [rollout('a', 1), rollout('a', 0)] }, 'request.invalid', 'than trajectories/0 has'],
  [
    'columns of different lengths',
    { trajectories: [{ ...rollout('a', 1), turns: [{ tokens: { a: [1], b: [1, 2] } }] }] },
    'request.invalid',
    'trajectories/0/turns/0/tokens/b',
  ],
  [
    'too many trajectories',
    { trajectories: Array.from({ length: 4_097 }, (_, i) => rollout(`t${i}`, 1, 0)) },
    'request.invalid',
    'up to 4096 of them, found 4097',
  ],
  [
    'too many turns',
    { trajectories: [{ ...rollout('a', 1), turns: Array.from({ length: 50_001 }, () => ({})) }] },
    'request.invalid',
    'up to 50000 turns in all, found 50001',
  ],
])('refuses %s', async (_name, input, code, message) => {
  const { errors } = await estimate(input);
  expect(errors).toMatchObject([{ message: expect.stringContaining(message), extensions: { code } }]);
});

it('lets one request ask for a few estimates, not for hundreds', async () => {
  const fields = (count: number) =>
    Array.from({ length: count }, (_, i) => `e${i}: estimate(input: $input) { level }`).join(' ');
  const ask = (count: number) =>
    api.ask(key, `query ($input: EstimateInput!) { ${fields(count)} }`, {
      input: { estimator: 'grpo', trajectories: [rollout('a', 1), rollout('b', 0)] },
    });
  expect((await ask(4)).errors).toBeUndefined();
  expect((await ask(5)).errors).toMatchObject([{ extensions: { code: 'query.too-costly' } }]);
});
