import { rebuild } from '#lib/projection';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { wholeWayOf } from '../../../../test/support/whole-way.js';

const AT = '2026-11-21T12:00:00Z';

let api: TestApi;
let way: Awaited<ReturnType<typeof wholeWayOf>>;

beforeAll(async () => {
  api = await testApi();
  way = await wholeWayOf(api);
});

afterAll(() => api?.close());

const turn = (trajectory: string, n: number, rest: object = {}) => ({
  type: 'turn.recorded',
  at: AT,
  trajectory,
  group: 'g',
  trainingStep: 0,
  turn: n,
  state: 'hall',
  action: 'go',
  reward: n,
  ...rest,
});
const end = (trajectory: string, rest: object = {}) => ({
  type: 'trajectory.ended',
  at: AT,
  trajectory,
  group: 'g',
  trainingStep: 0,
  outcomeReward: 1,
  ...rest,
});
const whole = (id: string, rest: object = {}) => ({
  type: 'trajectory.recorded',
  at: AT,
  id,
  group: 'g',
  trainingStep: 0,
  outcomeReward: 1,
  success: true,
  turns: [{ state: 'hall', action: 'go', reward: 1, signals: { valueEstimate: 0.5 } }],
  ...rest,
});
const withSignals = (id: string, signals: object) =>
  whole(id, { signals, turns: [{ state: 's', action: 'a', reward: 0, signals }, { signals }] });
const withTokens = (id: string, ...tokens: (object | undefined)[]) =>
  whole(id, { turns: tokens.map((columns) => ({ state: 's', reward: 0, ...(columns && { tokens: columns }) })) });

const lines = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const base64 = (array: Float32Array | Uint16Array) => Buffer.from(array.buffer).toString('base64');
/** A signal under a name that an object literal would not take for one. */
const named = (name: string, value: unknown) => JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(value)}}`);

/** Letters that no compression makes shorter, so that they are as long in an index as they are here. */
const long = (length: number, seed: number) =>
  Array.from({ length }, (_, i) =>
    String.fromCodePoint(0x1f300 + Math.floor(Math.abs(Math.sin(seed + i * 7.7) * 1e4) % 0x2ff)),
  ).join('');

const NAMES = ['credit', 'turn', 'id', 'reward', 'outcomeReward', 'success', 'state', 'tokens', 'token', 'group', 'turns', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '😀', '\ud800', '\u0000', ' ', '.', 'a.b', 'x@ann', '$array', '"', "'", 'a/b', '~1', long(128, 1)]; // prettier-ignore
const IDS = ['a b', ' ', '😀', 'a/b', '..', '"', "'", '\\', '{1,2}', 'NULL', 'null', '%s', '$1', '<b>', '\u202e', '__proto__', 'constructor', '🏴󠁧󠁢', long(512, 2)]; // prettier-ignore

const CASES: Record<string, readonly object[]> = {
  'numbers at the ends of the doubles': [1e308, -1e308, 5e-324, -0, Number.MAX_VALUE, 2 ** 53].flatMap((x, i) => [
    whole(`t${i}`, {
      outcomeReward: x,
      signals: { x },
      turns: [
        { state: 's', reward: x, signals: { x, valueEstimate: x, exactAdvantage: x } },
        { state: 's', reward: -x },
      ],
    }),
  ]),
  'groups whose sums overflow': [1e308, 1e308, -1e308].map((outcomeReward, i) =>
    whole(`t${i}`, {
      outcomeReward,
      turns: [0, 1].map(() => ({
        state: 's',
        reward: 1e308,
        signals: { valueEstimate: -1e308, exactAdvantage: 1e308 },
      })),
    }),
  ),
  'spreads that overflow': [1e200, -1e200, 0].map((outcomeReward, i) =>
    whole(`t${i}`, { outcomeReward, turns: [{ state: 's', reward: outcomeReward, signals: { valueEstimate: 0 } }] }),
  ),
  'signals of mixed kinds under one name': [1, 'one', true, null, [1], { a: 1 }, ''].map((x, i) =>
    withSignals(`t${i}`, { x, y: i % 2 ? x : 0 }),
  ),
  'a signal of an estimator that is no number': [
    withSignals('t0', { valueEstimate: 'high', isActionValid: { no: 1 }, exactAdvantage: ['x'] }),
    withSignals('t1', { valueEstimate: 1, isActionValid: true, exactAdvantage: 1 }),
  ],
  'empty texts and none': [
    whole('t0', { turns: [{ state: '', action: '' }, {}, { state: [], action: [] }, { reward: null }] }),
    turn('t1', 0, { state: '', action: '' }),
    end('t1', { outcomeReward: null }),
  ],
  'texts with NUL, lone surrogates and a byte order mark': [
    whole('t0', {
      turns: ['\u0000', '\ud800', '\udc00a', '\ufeff', '\u2028'].map((s) => ({ state: s, action: s, reward: 0 })),
    }),
    whole('t1', { turns: [{ state: [{ role: '\ud800', content: '\u0000', [`\udfff`]: 1 }], reward: 0 }] }),
    { type: 'run.ended', at: AT, reason: '\u0000\ud800' },
  ],
  'no turns, no tokens': [
    whole('t0', { turns: [] }),
    end('t1'),
    withTokens('t2', { logprob: [] }, {}, undefined),
    withTokens('t3', { logprob: { f32: '' } }),
  ],
  'tokens on some turns only, of all kinds': [
    withTokens('t0', { logprob: [-1, null], mask: [1, 0], reward: [0, 1], value: [1, 1] }, undefined),
    withTokens('t1', { logprob: { f32: base64(Float32Array.of(1, NaN, 3)) } }, { word: ['a', 'b'], logprob: [1, 2] }),
    withTokens('t2', { logprob: { f16: base64(Uint16Array.of(0x3800, 0x7e00)) } }, { hidden: [[0.1, 0.2], [0.3]] }),
    withTokens('t3', { logprob: ['a', 1, null, true] }),
    withTokens('t4', { reward: [1, 2], value: [0, 0], mask: [true, false] }),
    withTokens('t5', JSON.parse('{"__proto__": [1, 2], "constructor": [3, 4]}')),
  ],
  'a float32 at its ends': [
    withTokens('t0', { reward: [3.4e38, -3.4e38, 1e-45], value: [3.4e38, 3.4e38, 0], mask: [1, 1, 1] }),
  ],
  'a turn before its predecessors': [turn('t', 2)],
  'the same trajectory in two groups': [
    turn('t', 0),
    whole('t', { group: 'h' }),
    end('t', { group: 'h' }),
    end('t', { trainingStep: 7 }),
    end('t'),
    end('t'),
    turn('u', 0),
  ],
  'trajectories recorded twice': [whole('t'), whole('t'), whole('t', { outcomeReward: 0 }), turn('t', 0), turn('t', 1)],
  'parents that do not exist, and in a circle': [
    whole('a', { parent: { trajectory: 'nobody', turn: 5 } }),
    whole('b', { parent: { trajectory: 'c', turn: -1 } }),
    whole('c', { parent: { trajectory: 'b', turn: 0 } }),
    whole('d', { parent: { trajectory: 'd', turn: 1_000_000 } }),
  ],
  'the last training step': [
    whole('t', { trainingStep: 2 ** 31 - 1 }),
    {
      type: 'trainingStep.recorded',
      at: AT,
      trainingStep: 2 ** 31 - 1,
      metrics: { loss: null, kl: 1e308, lr: 5e-324 },
    },
    { type: 'trainingStep.recorded', at: AT, trainingStep: 0, metrics: {} },
    {
      type: 'trainingStep.recorded',
      at: AT,
      trainingStep: 0,
      metrics: { ...named('__proto__', 1), [long(256, 3)]: 1 },
    },
  ],
  'times that no clock shows': ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999-23:59', '2026-02-31T00:00:00Z', '2026-13-41T25:61:61+99:99'].map((at, i) => ({ ...whole(`t${i}`), at })), // prettier-ignore
  annotations: [
    whole('t'),
    { type: 'annotation.recorded', at: AT, trajectory: 't', annotator: long(512, 4), schema: long(512, 5), signals: { [NAMES[15]]: 'x', credit: 1, exactAdvantage: 'no' }, turns: [{ turn: 0, signals: { humanLabel: 1e308, x: { a: '\u0000' } }, rationale: '\u0000\ud800' }, { turn: 1_000_000, signals: { humanLabel: 1 } }], attempt: Number.MAX_SAFE_INTEGER }, // prettier-ignore
    { type: 'annotation.recorded', at: AT, trajectory: 'nobody', annotator: 'a', status: 'failed', failureReason: '\u0000' }, // prettier-ignore
    { type: 'annotation.recorded', at: AT, trajectory: 't', annotator: '__proto__', turns: [{ turn: 0, signals: JSON.parse('{"__proto__": 1, "humanLabel": "yes"}') }] }, // prettier-ignore
  ],
  rewinds: [
    whole('t'),
    { type: 'run.rewound', at: AT, toTrainingStep: 0 },
    whole('u', { trainingStep: 1 }),
    { type: 'run.rewound', at: AT, toTrainingStep: 0 },
    { type: 'run.rewound', at: AT, toTrainingStep: 2 ** 31 - 1 },
    whole('u', { trainingStep: 1 }),
  ],
  checkpoints: [
    whole('t'),
    { type: 'checkpoint.recorded', at: AT, trainingStep: 0, sketch: [0.5, null, -1e38], projection: { a: [null] } },
    {
      type: 'checkpoint.recorded',
      at: AT,
      trainingStep: 0,
      sketch: { f32: base64(Float32Array.of(NaN, 3e38, 1e-45)) },
      tensors: [
        { name: '😀', size: 1 },
        { name: '__proto__', size: 2 },
      ],
      projection: '\ud800',
    },
  ],
  'unknown fields': [{ ...whole('t'), extra: { deep: [1] }, __proto__: { x: 1 }, constructor: 1, signals: { a: 1 } }],
};

describe('what ingest takes goes the whole way', () => {
  it.each(Object.entries(CASES))('%s', async (_, events) => {
    const run = await way.createRun();
    expect(await way.append(run, 0, lines(events))).toMatchObject({ status: 200 });
    await way.follow(run);
  });

  it.each(NAMES.map((name) => [JSON.stringify(name).slice(0, 20), name]))('a signal named %s', async (_, name) => {
    const run = await way.createRun();
    const events = [
      withSignals('n', named(name, 1.5)),
      withSignals('t', named(name, 'text')),
      withTokens('k', named(name, [1, 2])),
      withTokens('kt', named(name, ['a', 'b'])),
    ];
    for (const [sequence, event] of events.entries()) {
      expect(await way.append(run, sequence, lines([event]))).toMatchObject({ status: 200 });
    }
    const { trajectories } = await way.follow(run);
    expect(Object.entries(trajectories[0].signals)).toEqual([[name, 1.5]]);
    expect(Object.entries(trajectories[0].turns.edges[0].node.signals)).toEqual([[name, 1.5]]);
    expect(Object.entries(trajectories[2].turns.edges[0].node.tokens)).toEqual([[name, [1, 2]]]);
  });

  it.each(IDS.map((id) => [JSON.stringify(id).slice(0, 20), id]))('trajectory and group called %s', async (_, id) => {
    const run = await way.createRun();
    const events = [
      turn(id, 0, { group: id }),
      end(id, { group: id, parent: { trajectory: id, turn: 0 } }),
      whole(`${id.slice(0, 500)}2`, { group: id, outcomeReward: 0, parent: { trajectory: id, turn: 0 } }),
      { type: 'annotation.recorded', at: AT, trajectory: id, annotator: id, schema: id, signals: { humanLabel: 1 } },
    ];
    expect(await way.append(run, 0, lines(events))).toMatchObject({ status: 200 });
    const { trajectories, answer } = await way.follow(run);
    expect(trajectories.map(({ group }) => group)).toEqual([id, id]);
    expect(answer.comparison).toMatchObject({ trajectories: 2, groups: 1 });
  });
});

it('says that credit overflows, and gives the rest', async () => {
  const run = await way.createRun();
  await way.append(run, 0, lines([...CASES['groups whose sums overflow'], whole('a', { group: 'h', outcomeReward: 0 }), whole('b', { group: 'h' })])); // prettier-ignore
  const { answer, trajectories } = await way.follow(run);
  const grpo = answer.estimators.find(({ label }: { label: string }) => label === 'grpo');
  expect(grpo.warnings).toEqual([expect.stringContaining('overflow')]);
  expect(trajectories[3].turns.edges[0].node.credit[0]).toMatchObject({ estimator: 'grpo', credit: expect.closeTo(-0.7, 1) }); // prettier-ignore
});

it('goes on with turns that come before their predecessors, across batches', async () => {
  const run = await way.createRun();
  const batches = [
    [turn('t', 2)],
    [end('t', { turnCount: 4 })],
    [turn('t', 0), turn('t', 1)],
    [turn('t', 1)],
    [turn('t', 9)],
    [turn('t', 3)],
  ];
  for (const [sequence, batch] of batches.entries()) {
    expect(await way.append(run, sequence, lines(batch))).toMatchObject({ status: 200 });
    await api.project(run);
  }
  const { trajectories } = await way.follow(run);
  expect(trajectories[0]).toMatchObject({
    state: 'FINISHED',
    turnCount: 4,
    problems: { repeatedTurns: { turns: [1] } },
  });
});

it('gives the same after a rebuild', async () => {
  const run = await way.createRun();
  for (const [sequence, events] of Object.values(CASES).entries()) await way.append(run, sequence, lines(events));
  await way.follow(run);
  await rebuild(api.db.pool, api.store, run);
  await way.follow(run);
});
