import { headOf } from '#lib/event-log';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let project: string;
let run: string;
let key: string;
let analysis: string;

const data = async (query: string, variables?: object) => {
  const answer = await api.ask(key, query, variables);
  expect(answer.errors).toBeUndefined();
  return answer.data;
};

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool, 'ours');
  run = await aRun(api.db.ownerPool, { project, name: 'grpo-7b' });
  key = await api.key(project, 'read', 'analyze');
  await api.append(run, [...aTrainingStep(0), ...aTrainingStep(1, { groups: 1 })]);
  await api.append(run, [
    {
      type: 'turn.recorded',
      at: '2026-11-21T12:00:00Z',
      trajectory: 'live',
      group: 'g9',
      trainingStep: 1,
      turn: 0,
      state: 'hall',
      action: 'look',
    },
  ]);
  await api.project(run);
  const started = await data(
    `mutation ($run: ID!) { startAnalysis(input: {
       runs: [{ run: $run }], estimators: [{ id: "grpo" }, { id: "gae", params: { granularity: "turn" } }] }) { id state } }`,
    { run },
  );
  analysis = started.startAnalysis.id;
  expect(started.startAnalysis.state).toBe('PLANNING');
  await api.work(analysis, [run]);
});

afterAll(() => api?.close());

it('answers every field of a run', async () => {
  const { run: found } = await data(`{ run(id: "grpo-7b") {
    id name project state position config createdAt
    progress { state position lastTrainingStep trajectoryCount finishedCount incompleteCount turnCount groupCount successRate meanOutcomeReward lastEventAt }
    trainingSteps { edges { node { trainingStep trajectoryCount finishedCount groupCount turnCount successRate meanOutcomeReward recordedAt metrics } } }
    metric(name: "loss") { name sampled count points { trainingStep value } }
    signals { level name source rows minimum maximum mean }
    analyses { edges { node { id } } }
  } }`);
  expect(found).toMatchObject({
    id: run,
    name: 'grpo-7b',
    project: 'ours',
    state: 'RUNNING',
    config: {},
    position: await headOf(api.db.pool, run),
    progress: {
      lastTrainingStep: 1,
      trajectoryCount: 7,
      finishedCount: 6,
      turnCount: 19,
      groupCount: 4,
      successRate: 0.5,
      meanOutcomeReward: 0.5,
    },
    metric: {
      name: 'loss',
      sampled: false,
      count: 2,
      points: [
        { trainingStep: 0, value: 1 },
        { trainingStep: 1, value: 0.5 },
      ],
    },
    analyses: { edges: [{ node: { id: analysis } }] },
  });
  expect(
    found.trainingSteps.edges.map(({ node }: any) => [
      node.trainingStep,
      node.trajectoryCount,
      node.finishedCount,
      node.groupCount,
      node.turnCount,
      node.successRate,
      node.metrics,
    ]),
  ).toEqual([
    [0, 4, 4, 2, 12, 0.5, { kl: 0.01, loss: 1 }],
    [1, 3, 2, 2, 7, 0.5, { kl: 0.01, loss: 0.5 }],
  ]);
  expect(found.signals).toContainEqual({
    level: 'turn',
    name: 'exactAdvantage',
    source: 'recorded',
    rows: 18,
    minimum: -0.5,
    maximum: 0.5,
    mean: 0,
  });
  expect(found.signals).toContainEqual({
    level: 'token',
    name: 'logprob',
    source: 'recorded',
    rows: 36,
    minimum: null,
    maximum: null,
    mean: null,
  });
});

it('answers every field of a group, its trajectories and their turns', async () => {
  const { run: found } = await data(
    `query ($analysis: ID!) { run(id: "grpo-7b") { groups(trainingStep: 1, first: 2) { edges { node {
       name trainingStep trajectoryCount finishedCount turnCount judgedCount successCount outcomeMin outcomeMax meanOutcomeReward
       trajectories(first: 8) { edges { node { id group trainingStep state outcomeReward success parent { trajectory turn } signals turnCount endPosition problems
         turns { edges { node { index state action reward signals tokens credit(analysis: $analysis) { estimator credit explain } } } } } } }
     } } } } }`,
    { analysis },
  );
  const [done, live] = found.groups.edges.map(({ node }: any) => node);
  expect(done).toMatchObject({
    name: 'g0',
    trainingStep: 1,
    trajectoryCount: 2,
    finishedCount: 2,
    turnCount: 6,
    judgedCount: 2,
    successCount: 1,
    outcomeMin: 0,
    outcomeMax: 1,
    meanOutcomeReward: 0.5,
  });
  expect(live).toMatchObject({
    name: 'g9',
    trajectoryCount: 1,
    finishedCount: 0,
    judgedCount: 0,
    outcomeMin: null,
    meanOutcomeReward: null,
  });
  const [winner, loser] = done.trajectories.edges.map(({ node }: any) => node);
  expect(winner).toMatchObject({
    id: 't1-0-0',
    group: 'g0',
    state: 'FINISHED',
    outcomeReward: 1,
    success: true,
    parent: null,
    signals: { difficulty: 0 },
    turnCount: 3,
    problems: null,
  });
  expect(winner.turns.edges.map(({ node }: any) => node)).toMatchObject(
    [0, 1, 2].map((index) => ({
      index,
      state: `room ${index}`,
      action: 'go 0',
      reward: index === 2 ? 1 : 0,
      signals: { exactAdvantage: 0.5, note: 'seen' },
      tokens: { logprob: [-0.5, -0.25] },
      credit: [{ estimator: 'grpo' }, { estimator: 'gae', credit: null, explain: {} }],
    })),
  );
  // outcomes 1 and 0: mean 0.5, sample std 0.7071068
  const [grpo] = winner.turns.edges[0].node.credit;
  expect(grpo.credit).toBeCloseTo(0.7071058, 6);
  expect(loser.turns.edges[0].node.credit[0].credit).toBeCloseTo(-0.7071058, 6);
  expect(live.trajectories.edges[0].node).toMatchObject({
    id: 'live',
    state: 'LIVE',
    outcomeReward: null,
    success: null,
    endPosition: null,
    turnCount: 1,
  });
  expect(live.trajectories.edges[0].node.turns.edges[0].node).toMatchObject({
    index: 0,
    state: 'hall',
    action: 'look',
    reward: null,
    tokens: null,
  });
});

it('answers every field of an analysis', async () => {
  const found = await data(
    `query ($id: ID!) { analysis(id: $id) { id state failure asOf createdAt finishedAt
       runs { run asOf }
       progress { state total done cached failed running rate secondsLeft }
       estimators { label id version params inputsMissing { path rows of } warnings }
       shards { edges { node { run trainingStep state cached trajectoryCount tries reason device seconds } } }
       comparison { trajectories turns groups groupsWithSignal successRate meanOutcome sample { sampled turns ofTurns trajectories ofTrajectories }
         estimators { id turns groupsWithSignal signalDensity mean std withinTrajectoryShare gini effectiveTurns detail }
         pairs { a b n pearson spearman signAgreement detail }
         truths { signal estimator n auc aucLow aucHigh spearman low high withinTrajectoryPairAccuracy detail }
         disputed { run trajectory turn values } detail }
     } }`,
    { id: analysis },
  );
  const { comparison, estimators, shards, ...rest } = found.analysis;
  expect(rest).toMatchObject({
    id: analysis,
    state: 'COMPLETED',
    failure: null,
    runs: [{ run, asOf: rest.asOf }],
    progress: { state: 'COMPLETED', total: 2, done: 2, cached: 0, failed: 0, running: 0, secondsLeft: 0 },
  });
  expect(rest.asOf).toBeGreaterThan(0);
  expect(estimators).toMatchObject([
    { label: 'grpo', id: 'grpo', params: { normalizeByStd: true }, inputsMissing: [], warnings: [] },
    { label: 'gae', id: 'gae', inputsMissing: [{ path: 'turn.valueEstimate', rows: 18, of: 18 }] },
  ]);
  expect(
    shards.edges.map(({ node }: any) => [
      node.trainingStep,
      node.state,
      node.trajectoryCount,
      node.tries,
      node.reason,
      node.device,
    ]),
  ).toEqual([
    [0, 'DONE', 4, 1, null, 'cpu'],
    [1, 'DONE', 2, 1, null, 'cpu'],
  ]);
  expect(comparison).toMatchObject({
    trajectories: 6,
    turns: 18,
    groups: 3,
    groupsWithSignal: 3,
    successRate: 0.5,
    meanOutcome: 0.5,
    sample: { sampled: false },
    pairs: [],
    truths: [{ signal: 'exactAdvantage', estimator: 'grpo', n: 18 }],
  });
  expect(comparison.estimators).toMatchObject([{ id: 'grpo', turns: 18, signalDensity: 1, withinTrajectoryShare: 0 }]);
});

it('answers the roots', async () => {
  const found = await data(`{
    project(name: "ours") { id name createdAt runs { edges { node { id } } } }
    projects { edges { node { name } } }
    runs(project: "ours") { edges { node { id } } }
    none: runs(project: "nowhere") { edges { node { id } } }
    trajectory(run: "grpo-7b", id: "t0-1-1") { id group outcomeReward }
    nobody: trajectory(run: "grpo-7b", id: "t9") { id }
    nothing: run(id: "no such") { id }
    estimators { id version title status levels requires accepts params citation { paper code } }
    devices { id description }
  }`);
  expect(found).toMatchObject({
    project: { id: project, name: 'ours', runs: { edges: [{ node: { id: run } }] } },
    projects: { edges: [{ node: { name: 'ours' } }] },
    runs: { edges: [{ node: { id: run } }] },
    none: { edges: [] },
    trajectory: { id: 't0-1-1', group: 'g1', outcomeReward: 0 },
    nobody: null,
    nothing: null,
    devices: [{ id: 'cpu' }],
  });
  const grpo = found.estimators.find(({ id }: any) => id === 'grpo');
  expect(grpo).toMatchObject({
    levels: ['trajectory'],
    requires: ['trajectory.outcomeReward'],
    citation: { paper: 'arXiv:2402.03300' },
  });
  expect(grpo.params.properties.normalizeByStd).toMatchObject({ default: true });
});

describe('lists are filtered', () => {
  it.each([
    ['{ trainingStep: 1 }', 3],
    ['{ group: "g0" }', 4],
    ['{ success: true }', 3],
    ['{ state: LIVE }', 1],
    ['{ trainingStep: 1, success: false }', 1],
    ['{ trainingStep: null, group: null, success: null, state: null }', 7],
    ['null', 7],
  ])('trajectories by %s', async (filter, count) => {
    const found = await data(`{ run(id: "grpo-7b") { trajectories(filter: ${filter}) { edges { node { id } } } } }`);
    expect(found.run.trajectories.edges).toHaveLength(count);
  });

  it('shards by state', async () => {
    const found = await data(
      `query ($id: ID!) { analysis(id: $id) { done: shards(state: DONE) { edges { node { state } } } failed: shards(state: FAILED) { edges { node { state } } } } }`,
      { id: analysis },
    );
    expect([found.analysis.done.edges.length, found.analysis.failed.edges.length]).toEqual([2, 0]);
  });
});

it('thins a curve and says so', async () => {
  const { run: found } = await data(
    `{ run(id: "grpo-7b") { metric(name: "loss", points: 1) { sampled count points { trainingStep } } all: metric(name: "loss", points: null) { count sampled } } }`,
  );
  expect(found).toEqual({
    metric: { sampled: true, count: 2, points: [{ trainingStep: 1 }] },
    all: { count: 2, sampled: false },
  });
  const stretch = await data(
    `{ run(id: "grpo-7b") { metric(name: "loss", firstStep: 1, lastStep: 7) { count points { trainingStep } } } }`,
  );
  expect(stretch.run.metric).toEqual({ count: 1, points: [{ trainingStep: 1 }] });
});

it('shows no list what a rewind superseded, and by id what was', async () => {
  const rewound = await aRun(api.db.ownerPool, { project, name: 'rewound' });
  await api.append(rewound, [
    ...aTrainingStep(0),
    ...aTrainingStep(1, { prefix: 'old-' }),
    ...aTrainingStep(2, { prefix: 'old-' }),
    { type: 'run.rewound', at: '2026-11-21T12:00:00Z', toTrainingStep: 0 },
    ...aTrainingStep(1, { prefix: 'new-', groups: 1 }),
  ]);
  await api.project(rewound);
  const { run: found, trajectory } = await data(`{
    run(id: "rewound") {
      trainingSteps { edges { node { trainingStep trajectoryCount } } }
      groups { edges { node { trainingStep name trajectories { edges { node { id } } } } } }
      trajectories { edges { node { id } } }
      metric(name: "loss") { count }
    }
    trajectory(run: "rewound", id: "old-t1-0-0") { id outcomeReward turns { edges { node { state } } } }
  }`);
  const nodes = (connection: any) => connection.edges.map(({ node }: any) => node);
  expect(nodes(found.trainingSteps)).toEqual([
    { trainingStep: 0, trajectoryCount: 4 },
    { trainingStep: 1, trajectoryCount: 2 },
  ]);
  expect(
    nodes(found.groups).map((group: any) => [group.trainingStep, group.name, nodes(group.trajectories)[0].id]),
  ).toEqual([
    [0, 'g0', 't0-0-0'],
    [0, 'g1', 't0-1-0'],
    [1, 'g0', 'new-t1-0-0'],
  ]);
  expect(nodes(found.trajectories)).toHaveLength(6);
  expect(found.metric).toEqual({ count: 2 });
  expect(trajectory).toMatchObject({ id: 'old-t1-0-0', outcomeReward: 1, turns: { edges: [{}, {}, {}] } });
});

it('has a success rate of the trajectories that say whether they succeeded', async () => {
  const rates = async (name: string, groups: readonly (readonly (boolean | null)[])[]) => {
    const run = await aRun(api.db.ownerPool, { project, name });
    const recorded = groups.flatMap((successes, g) =>
      successes.map((success, i) => ({
        type: 'trajectory.recorded',
        at: '2026-11-21T12:00:00Z',
        id: `${g}-${i}`,
        group: `g${g}`,
        trainingStep: 0,
        outcomeReward: 1,
        ...(success !== null && { success }),
        turns: [{ state: 'hall', action: 'look' }],
      })),
    );
    await api.append(run, recorded);
    await api.project(run);
    const { run: found } = await data(`{ run(id: "${name}") {
      progress { successRate } trainingSteps { edges { node { successRate } } }
      groups { edges { node { judgedCount successCount } } }
    } }`);
    return [
      found.progress.successRate,
      ...found.trainingSteps.edges.map(({ node }: any) => node.successRate),
      ...found.groups.edges.map(({ node }: any) => `${node.successCount} of ${node.judgedCount}`),
    ];
  };
  expect(await rates('nobody says', [[null, null]])).toEqual([null, null, '0 of 0']);
  expect(await rates('some say', [[true, null, false], [null]])).toEqual([0.5, 0.5, '1 of 2', '0 of 0']);
  expect(await rates('all fail', [[false, false]])).toEqual([0, 0, '0 of 2']);
});
