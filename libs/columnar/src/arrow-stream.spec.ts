import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { arrowStream, type StreamColumn, type StreamRows } from './arrow-stream.js';
import { creditTable } from './credit-table.js';
import { encodeCredit } from './encode-credit.js';
import { openCredit } from './open-credit.js';
import { trajectoryTable } from './trajectory-table.js';

async function rowsOf(columns: readonly StreamColumn[], batches: Iterable<StreamRows>) {
  const chunks = await Array.fromAsync(arrowStream(columns, batches));
  const bytes = new Uint8Array(chunks.flatMap((chunk) => [...chunk]));
  return tableFromIPC(bytes)
    .toArray()
    .map((row) => ({ ...row.toJSON() }));
}

const COLUMNS: StreamColumn[] = [
  { name: 'word', type: 'text' },
  { name: 'count', type: 'integer' },
  { name: 'score', type: 'number' },
];

describe('arrowStream', () => {
  it('puts batches under each other, each with its own texts, null where one says nothing', async () => {
    const batches: StreamRows[] = [
      {
        rows: 3,
        values: new Map<string, never>(
          Object.entries({
            word: { keys: Int32Array.of(1, -1, 0), texts: ['a', 'b'] },
            count: Int32Array.of(4, -1, 5),
            score: Float32Array.of(0.5, NaN, 2),
          }) as never,
        ),
      },
      { rows: 0, values: new Map() },
      { rows: 1, values: new Map([['word', { keys: Int32Array.of(0), texts: ['é\u0000'] }]]) },
    ];
    expect(await rowsOf(COLUMNS, batches)).toEqual([
      { word: 'b', count: 4, score: 0.5 },
      { word: null, count: null, score: null },
      { word: 'a', count: 5, score: 2 },
      { word: 'é\u0000', count: null, score: null },
    ]);
  });

  it('says its columns also where there is no row', async () => {
    const [first, ...rest] = await Array.fromAsync(arrowStream(COLUMNS, []));
    const { schema, numRows } = tableFromIPC(new Uint8Array([...first, ...rest.flatMap((chunk) => [...chunk])]));
    expect(schema.fields.map(({ name }) => name)).toEqual(['word', 'count', 'score']);
    expect(numRows).toBe(0);
  });

  it('asks for a batch only when the one before has been taken', async () => {
    let asked = 0;
    function* batches(): Generator<StreamRows> {
      for (; asked < 5; asked++) yield { rows: 1, values: new Map() };
    }
    const stream = arrowStream(COLUMNS, batches());
    await stream.next();
    expect(asked).toBe(0);
    await stream.next();
    await stream.next();
    expect(asked).toBe(1);
    await stream.return(undefined);
  });
});

const trajectories = trajectoryBatch([
  {
    id: 'a',
    group: 'g',
    trainingStep: 1,
    outcomeReward: 1,
    success: true,
    signals: { judgeScore: 0.5 },
    turns: [
      { state: 's0', action: 'go', reward: 0.25, signals: { valueEstimate: 3, state: 9 } },
      { action: 'stop', tokens: { logprob: [-1, -2] } },
    ],
  },
  { id: 'b', group: 'g', trainingStep: 1, turns: [] },
  { id: 'c', group: 'g', trainingStep: 2, outcomeReward: 0, turns: [{ state: 's0', action: 'go' }] },
]);

describe('trajectoryTable', () => {
  it('has a row per turn with what is said of it and of its trajectory', async () => {
    const table = trajectoryTable([
      'turn.reward',
      'turn.valueEstimate',
      'turn.state',
      'turn.nowhere',
      'trajectory.judgeScore',
      'token.logprob',
    ]);
    const first = { trajectory: 'a', group: 'g', trainingStep: 1, outcomeReward: 1, success: 1 };
    const nothing = { reward: null, valueEstimate: null, state_: null, nowhere: null };
    expect(await rowsOf(table.columns, [table.rowsOf(trajectories)])).toEqual([
      {
        ...first,
        turn: 0,
        state: 's0',
        action: 'go',
        ...nothing,
        reward: 0.25,
        valueEstimate: 3,
        state_: 9,
        'trajectory.judgeScore': 0.5,
      },
      { ...first, turn: 1, state: null, action: 'stop', ...nothing, 'trajectory.judgeScore': 0.5 },
      {
        trajectory: 'c',
        group: 'g',
        trainingStep: 2,
        turn: 0,
        state: 's0',
        action: 'go',
        ...nothing,
        outcomeReward: 0,
        success: null,
        'trajectory.judgeScore': null,
      },
    ]);
  });

  it('carries only the texts that its rows have, each once', () => {
    const texts = { states: ['far', 's0', 'away'], actions: ['go', 'stop', 'wait'] };
    const batch: TrajectoryBatch = { ...trajectories, stateKey: Int32Array.of(1, -1, 1), texts };
    const { values } = trajectoryTable([]).rowsOf(batch);
    expect(values.get('state')).toEqual({ keys: Int32Array.of(0, -1, 0), texts: ['s0'] });
    expect(values.get('group')).toEqual({ keys: Int32Array.of(0, 0, 0), texts: ['g'] });
  });
});

describe('creditTable', () => {
  const file = (level: 'trajectory' | 'turn' | 'token', ...values: number[]) =>
    openCredit(
      encodeCredit({
        estimator: level,
        version: 1,
        params: {},
        trajectories,
        credit: { level, values: Float64Array.from(values) },
        warnings: [],
      }),
    );

  it('has a row per turn and a column per estimator, whatever its level', async () => {
    const files = new Map([
      ['grpo', file('trajectory', 1, 2, 3)],
      ['gigpo', file('turn', 0.5, NaN, -0.5)],
      ['empg', file('token', 1, 2)],
      ['igpo', null],
    ]);
    const table = creditTable([...files.keys()]);
    const rows = [
      table.rowsOf({ run: 'r', trainingStep: 1, files }),
      table.rowsOf({ run: 'q', trainingStep: 2, files: new Map([['igpo', null]]) }),
    ];
    expect(await rowsOf(table.columns, rows)).toEqual([
      { run: 'r', trainingStep: 1, trajectory: 'a', turn: 0, grpo: 1, gigpo: 0.5, empg: null, igpo: null },
      { run: 'r', trainingStep: 1, trajectory: 'a', turn: 1, grpo: 1, gigpo: null, empg: 1.5, igpo: null },
      { run: 'r', trainingStep: 1, trajectory: 'c', turn: 0, grpo: 3, gigpo: -0.5, empg: null, igpo: null },
    ]);
  });
});
