import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const AT = '2026-11-21T12:00:00Z';
const TYPES = ['pick', 'clean'];

let api: TestApi;
let key: string;
let run: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool, 'p');
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'r' });
  await api.append(run, [0, 1].flatMap(aStep));
  await api.project(run);
});

afterAll(() => api?.close());

/** Four groups of four rollouts of three turns, of two task types; a success fails at first and then does it right. */
function aStep(trainingStep: number): object[] {
  return Array.from({ length: 16 }, (_, i) => {
    const [group, member] = [i >> 2, i & 3];
    const success = member < 1 + (group & 1);
    return {
      type: 'trajectory.recorded',
      at: AT,
      id: `t${trainingStep}-${i}`,
      group: `g${group}`,
      trainingStep,
      outcomeReward: success ? 1 : 0,
      success,
      signals: { taskType: TYPES[group & 1], task: `${trainingStep}-${i}` },
      turns: Array.from({ length: 3 }, (_unused, turn) => ({
        state: `room ${member < 2 ? turn : turn + member}`,
        action: `go ${turn}`,
        reward: turn === 2 && success ? 1 : turn === 0 && success ? -1.5 : 0,
        tokens: { logprob: [-0.1 * (turn + 1), -2] },
      })),
    };
  });
}

async function data(query: string, variables?: object) {
  const { errors, data } = await api.ask(key, query, variables);
  expect({ errors, logged: api.logged.splice(0) }).toEqual({ errors: undefined, logged: [] });
  return data;
}

async function analyse(estimators: string): Promise<string> {
  const { startAnalysis } = await data(
    `mutation { startAnalysis(input: { runs: [{ run: "r" }], estimators: [${estimators}] }) { id } }`,
  );
  await api.work(startAnalysis.id, [run]);
  return startAnalysis.id;
}

const ESTIMATORS = '{ id: "grpo" }, { id: "discounted-return" }, { id: "lite-ppo" }';

const ask = async (id: string, fields: string) =>
  (await data(`query ($id: ID!) { analysis(id: $id) { comparison { ${fields} } } }`, { id })).analysis.comparison;

it('says how stable credit is, which way it pushes, and how it agrees by task type', async () => {
  const id = await analyse(ESTIMATORS);
  const found = await ask(
    id,
    `estimators { id stability { turns leftOut meanMaxMove signUnstableShare relativeInstability }
       gradient { from turns push length } }
     pairs { a b flipCount gradientCosine }
     tags { tag reason values { value trajectories turns pairs { a b n spearman flipCount } } }
     annotators { signal }`,
  );
  const [grpo, discounted, litePpo] = found.estimators;
  // a group of one success and three failures: 1.5 and −0.5; without a failure 1.1547, without the success 0
  expect(grpo.stability).toMatchObject({ turns: 96, leftOut: 'trajectory', signUnstableShare: 0 });
  expect(grpo.stability.meanMaxMove).toBeGreaterThan(0.2);
  expect(discounted.stability).toMatchObject({ turns: 96, meanMaxMove: 0, relativeInstability: 0 });
  expect(litePpo.stability).toMatchObject({ turns: 96, leftOut: 'groups' });
  expect(litePpo.stability.meanMaxMove).toBeGreaterThan(0);
  expect(discounted.gradient).toMatchObject({ from: 'logprob', turns: 96 });
  expect(discounted.gradient.push).toBeGreaterThan(0);
  expect(grpo.gradient.push).toBeLessThan(discounted.gradient.push);
  for (const { gradientCosine } of found.pairs) expect(Math.abs(gradientCosine)).toBeLessThanOrEqual(1);

  expect(found.tags).toMatchObject([
    { tag: 'task', values: null, reason: 'it says more than 16 different things' },
    { tag: 'taskType', reason: null, values: [{ value: 'clean', trajectories: 16, turns: 48 }, { value: 'pick' }] },
  ]);
  expect(found.tags[1].values[0].pairs.map(({ a, b, n }: any) => [a, b, n])).toEqual([
    ['discounted-return', 'grpo', 48],
    ['discounted-return', 'lite-ppo', 48],
    ['grpo', 'lite-ppo', 48],
  ]);
  expect(await ask(id, 'tags(tag: "taskType") { tag }')).toEqual({ tags: [{ tag: 'taskType' }] });
  expect(found.annotators).toEqual([]);
});

it('shows disputed turns with what was seen and done, by as many statements for one as for all', async () => {
  const id = await analyse('{ id: "grpo" }, { id: "discounted-return" }');
  const first = (n: string) => `disputed${n} { trajectory turn a b strength values recorded { state action reward } }`;
  const { disputed } = await ask(id, first(''));
  expect(disputed.length).toBeGreaterThan(1);
  for (const { trajectory, turn, a, b, recorded } of disputed) {
    // a success whose first turns are punished: what is to come from there is bad, the outcome is not
    expect([a, b, turn]).toEqual(['discounted-return', 'grpo', 0]);
    const member = Number(trajectory.split('-')[1]) & 3;
    expect(recorded).toMatchObject({ state: `room ${member < 2 ? turn : turn + member}`, action: `go ${turn}` });
  }
  api.statements.length = 0;
  expect((await ask(id, first('(first: 1)'))).disputed).toEqual(disputed.slice(0, 1));
  const ofOne = api.statements.length;
  api.statements.length = 0;
  await ask(id, first(''));
  expect(api.statements).toHaveLength(ofOne);
});

it('holds estimators against the annotators, and again without each of them', async () => {
  const annotate = async (annotator: string, labels: readonly number[]) => {
    const annotations = labels.map((humanLabel, i) => ({ trajectory: `t0-${Math.floor(i / 3)}`, turn: i % 3, signals: { humanLabel } })); // prettier-ignore
    await data('mutation ($input: AnnotateAllInput!) { annotateAll(input: $input) { recorded } }', { input: { run: 'r', annotator, annotations } }); // prettier-ignore
    await api.project(run);
  };
  const right = Array.from({ length: 48 }, (_, i) => (i % 3 === 2 ? 1 : -1));
  await annotate('ann', right);
  await annotate('bob', right);
  await annotate('eve', right.map((label) => -label)); // prettier-ignore
  const { annotators } = await ask(
    await analyse('{ id: "discounted-return" }'),
    `annotators { signal annotators { annotator turns } estimators { estimator spread
       consensus { annotator n withinTrajectoryPairAccuracy auc intervals } without { annotator n withinTrajectoryPairAccuracy } } }`,
  );
  expect(annotators).toHaveLength(1);
  const [{ signal, annotators: raters, estimators }] = annotators;
  expect([signal, raters.map(({ annotator }: any) => annotator)]).toEqual(['humanLabel', ['ann', 'bob', 'eve']]);
  const [{ consensus, without, spread }] = estimators;
  expect(consensus).toMatchObject({ annotator: null, n: 48 });
  expect(consensus.intervals.auc).toMatchObject({ low: expect.any(Number), high: expect.any(Number) });
  // without ann, bob and eve disagree about every turn; so do ann and eve without bob
  expect(without).toMatchObject([
    { annotator: 'ann', n: 0, withinTrajectoryPairAccuracy: null },
    { annotator: 'bob', n: 0, withinTrajectoryPairAccuracy: null },
    { annotator: 'eve', n: 48, withinTrajectoryPairAccuracy: consensus.withinTrajectoryPairAccuracy },
  ]);
  expect(spread.withinTrajectoryPairAccuracy).toBeNull();
});

it('shows a comparison that is older than these numbers', async () => {
  const id = await analyse('{ id: "grpo" }, { id: "rloo" }');
  await api.db.ownerPool.query(
    `update analysis set comparison = (comparison - 'tags' - 'annotators')
       || jsonb_build_object('estimators', (select jsonb_agg(e - 'stability' - 'gradient') from jsonb_array_elements(comparison -> 'estimators') e),
                             'pairs', (select jsonb_agg(p - 'gradientCosine') from jsonb_array_elements(comparison -> 'pairs') p))
     where id = $1`,
    [id],
  );
  expect(
    await ask(
      id,
      'estimators { stability { turns } gradient { turns } } pairs { gradientCosine } tags { tag } annotators { signal }',
    ),
  ).toEqual({
    // prettier-ignore
    estimators: [{ stability: null, gradient: null }, { stability: null, gradient: null }],
    pairs: [{ gradientCosine: null }],
    tags: [],
    annotators: [],
  });
});
