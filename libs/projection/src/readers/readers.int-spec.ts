import { openSegment, rowsOfStep, stepBatch } from '#lib/columnar';
import { numbers } from '#lib/dataset';
import type { RunEvent } from '#lib/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aRun } from '../../../../test/support/rows.js';
import { appendEvents } from '../busy-run.builder.js';
import { anEvent } from '../events.builder.js';
import { Projector } from '../projector.js';
import { memoryStore } from '../read-model-rows.builder.js';
import { annotationsOf, lastAnnotations } from './annotations-of.js';
import { finishedRecords } from './finished-records.js';
import { countedSlices } from './segment-slices.js';
import { signalsOf } from './signals-of.js';
import { turnsAt } from './turns-at.js';
import { turnsOf, turnsOfEach } from './turns-of.js';

const ALL = { first: 0, last: 1_000 };

let db: TestDatabase;
const store = memoryStore();
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

/** A run of these events, projected. Positions count from 0. */
async function projected(events: readonly RunEvent[], turns = 4): Promise<string> {
  const runId = await aRun(db.ownerPool);
  await appendEvents(db.pool, runId, events, 3);
  await new Projector({ pool: db.pool, store, segmentSize: { turns, bytes: Infinity } }).projectRun(runId);
  return runId;
}

const slicesOf = (runId: string, step: number, asOf: number) =>
  countedSlices(db.pool, runId, { first: step, last: step }, asOf);

async function idsOf(runId: string, trainingStep: number, asOf: number): Promise<string[]> {
  const slices = await slicesOf(runId, trainingStep, asOf);
  const segments = await Promise.all(slices.map(async (slice) => openSegment(await store.get(slice.numericKey))));
  // what the planner counts must be what the shard will take from the files
  const query = { trainingStep, asOf, from: slices[0]?.from ?? 0 };
  for (const [i, { firstRow, rowCount }] of slices.entries()) {
    expect(rowsOfStep(segments[i], query)).toEqual({ firstRow, rowCount });
  }
  return slices.length === 0 ? [] : [...stepBatch(segments, query).ids];
}

describe('segments', () => {
  it('hold finished trajectories by training step and end, with all that was recorded', async () => {
    const runId = await projected([
      anEvent.turn('b', 1, { trainingStep: 1, reward: 2, signals: { v: 0.5 }, tokens: { logprob: [-1, -2] } }),
      anEvent.whole('c', 1, { parent: { trajectory: 'elsewhere', turn: 0 }, outcomeReward: 3, success: true }),
      anEvent.turn('b', 0, { trainingStep: 1, state: [{ role: 'user', content: 'hi' }] }),
      anEvent.turn('lost', 1),
      anEvent.turn('live', 0),
      anEvent.end('lost'),
      anEvent.end('b', { trainingStep: 1, outcomeReward: null, signals: { kind: 'x' } }),
      anEvent.whole('a', 2),
      anEvent.ended(),
    ]);
    const { rows } = await db.pool.query('select * from segment where run_id = $1 order by ordinal', [runId]);
    expect(rows).toMatchObject([
      { ordinal: 0, first_step: 0, last_step: 1, end_position: '8', trajectory_count: 3, turn_count: 5 },
    ]);
    const { trajectories, parents, endPosition } = openSegment(
      await store.get(rows[0].numeric_key),
      await store.get(rows[0].text_key),
    );
    expect(trajectories.ids).toEqual(['c', 'a', 'b']);
    expect([...trajectories.trainingStep]).toEqual([0, 0, 1]);
    expect([...endPosition]).toEqual([1, 7, 6]);
    expect(parents).toEqual(['elsewhere', null, null]);
    expect([...trajectories.turnOffsets]).toEqual([0, 1, 3, 5]);
    expect([...numbers(trajectories, 'trajectory.outcomeReward')!]).toEqual([3, NaN, NaN]);
    expect([...numbers(trajectories, 'turn.reward')!]).toEqual([NaN, NaN, NaN, NaN, 2]);
    expect([...numbers(trajectories, 'token.logprob')!]).toEqual([-1, -2]);
    expect(trajectories.texts?.states[trajectories.stateKey[3]]).toBe('[{"content":"hi","role":"user"}]');
  });

  it('give a step as of a position as a prefix of its rows', async () => {
    const place = { trainingStep: 5 };
    const runId = await projected([
      anEvent.whole('a', 3, place),
      anEvent.whole('b', 3, place), // cut
      anEvent.whole('c', 1, place),
      anEvent.whole('other', 1),
      anEvent.whole('d', 1, place),
      anEvent.ended(),
    ]);
    expect(await idsOf(runId, 5, 6)).toEqual(['a', 'b', 'c', 'd']);
    expect(await idsOf(runId, 5, 4)).toEqual(['a', 'b', 'c']);
    expect(await idsOf(runId, 5, 1)).toEqual(['a']);
    expect(await idsOf(runId, 5, 0)).toEqual([]);
    expect(await countedSlices(db.pool, runId, ALL, 5)).toMatchObject([
      { trainingStep: 0, ordinal: 1, firstRow: 0, rowCount: 1, turnCount: 1, from: 0 },
      { trainingStep: 5, ordinal: 0, firstRow: 0, rowCount: 2, turnCount: 6, from: 0 },
      { trainingStep: 5, ordinal: 1, firstRow: 1, rowCount: 2, turnCount: 2, from: 0 },
    ]);
  });
});

describe('a rewind', () => {
  it('supersedes later steps: they are marked, counted anew, and left out as of a position behind it', async () => {
    const runId = await projected([
      anEvent.whole('a', 1, { trainingStep: 1 }),
      anEvent.whole('b', 1, { trainingStep: 2, outcomeReward: 1 }),
      anEvent.annotation('b', { signals: { x: 1 } }),
      anEvent.turn('crashed', 0, { trainingStep: 2 }),
      anEvent.step(2, { loss: 1 }),
      anEvent.rewound(1), // 5
      anEvent.whole('b', 2, { trainingStep: 2, outcomeReward: 0 }),
      anEvent.step(2, { loss: 2 }),
      anEvent.annotation('b', { signals: { x: 2 } }),
      anEvent.ended(),
    ]);
    expect(await idsOf(runId, 1, 10)).toEqual(['a']);
    expect(await idsOf(runId, 2, 5)).toEqual(['b']);
    expect(await slicesOf(runId, 2, 5)).toMatchObject([{ ordinal: 0, turnCount: 1, from: 0 }]);
    expect(await slicesOf(runId, 2, 10)).toMatchObject([{ ordinal: 1, turnCount: 2, from: 5 }]);
    expect(await idsOf(runId, 2, 10)).toEqual(['b']);

    const current = async (columns: string, table: string) =>
      (await db.pool.query(`select ${columns} from ${table} where run_id = $1 and superseded_at is null`, [runId]))
        .rows;
    expect(await current('training_step, trajectory_count, outcome_sum', 'training_step')).toEqual([
      { training_step: 1, trajectory_count: 1, outcome_sum: 0 },
      { training_step: 2, trajectory_count: 1, outcome_sum: 0 },
    ]);
    expect(await current('value', 'metric_point')).toEqual([{ value: 2 }]);
    expect(await current('id, turn_count', 'trajectory')).toEqual([
      { id: 'a', turn_count: 1 },
      { id: 'b', turn_count: 2 },
    ]);
    const { rows } = await db.pool.query('select * from run_progress where run_id = $1', [runId]);
    expect(rows).toMatchObject([{ trajectory_count: 4, superseded_count: 2, training_step_max: 2 }]);
    const said = async (asOf: number) => (await annotationsOf(db.pool, runId, ALL, asOf)).map(({ signals }) => signals);
    expect([await said(5), await said(10)]).toEqual([[{ x: 1 }], [{ x: 2 }]]);
  });
});

describe('turnsOf', () => {
  it('pages through a live trajectory, its early turns behind those in a row', async () => {
    const runId = await projected([0, 1, 2, 5, 4].map((turn) => anEvent.turn('t', turn, { signals: { turn } })));
    const pages = [];
    for (let after: number | null = null; ;) {
      const page = await turnsOf(db.pool, runId, 't', { first: 2, after });
      if (page.length === 0) break;
      pages.push(page.map(({ index, position }) => [index, position]));
      after = page[page.length - 1].index;
    }
    expect(pages).toEqual([[[0, 0], [1, 1]], [[2, 2], [4, 4]], [[5, 3]]]); // prettier-ignore
    expect(await turnsOf(db.pool, runId, 't', { first: 1, after: 1 })).toMatchObject([
      { index: 2, state: 'state 2', action: 'action 2', signals: { turn: 2 } },
    ]);
  });

  it('reads trajectories of either kind with two statements, and knows none that is not there', async () => {
    const runId = await projected([anEvent.turn('live', 0), anEvent.whole('whole', 3), anEvent.end('empty')]);
    let statements = 0;
    const counting = {
      query: (sql: string, params?: unknown[]) => {
        statements++;
        return db.pool.query(sql, params);
      },
    };
    const ids = ['live', 'whole', 'empty', 'unknown'];
    const turns = await turnsOfEach(counting, runId, ids, { first: 2, after: 0 });
    expect(ids.map((id) => turns.get(id)?.map(({ index }) => index))).toEqual([[], [1, 2], [], undefined]);
    expect(turns.get('whole')![0]).toEqual({ index: 1, position: 1, state: 'state 1', action: 'action 1' });
    expect(statements).toBe(2);
  });

  it('finds single turns of any of them, and says where there is none', async () => {
    const runId = await projected([anEvent.turn('live', 0), anEvent.turn('live', 2), anEvent.whole('whole', 3)]);
    let statements = 0;
    const counting = {
      query: (sql: string, params?: unknown[]) => {
        statements++;
        return db.pool.query(sql, params);
      },
    };
    const places = [['whole', 2], ['live', 2], ['live', 1], ['live', 0], ['whole', 3], ['unknown', 0]] as const; // prettier-ignore
    const turns = await turnsAt(
      counting,
      runId,
      places.map(([trajectory, turn]) => ({ trajectory, turn })),
    );
    expect(turns.map((turn) => turn && [turn.index, turn.state])).toEqual([[2, 'state 2'], [2, 'state 2'], null, [0, 'state 0'], null, null]); // prettier-ignore
    expect(turns[0]).toMatchObject({ position: 2, trainingStep: 0 });
    expect(statements).toBe(2);
  });
});

describe('annotations', () => {
  it('are found by step and position, even where they came before their trajectory', async () => {
    const runId = await projected([
      anEvent.annotation('late', { signals: { x: 1 }, attempt: 3 }),
      anEvent.whole('late', 2, { trainingStep: 4 }),
      anEvent.annotation('late', { annotator: 'human', turns: [{ turn: 1, signals: { y: 2 } }] }),
      anEvent.annotation('unknown', { signals: { z: 1 } }),
      anEvent.annotation('late', { signals: { x: 5 } }),
    ]);
    expect(await annotationsOf(db.pool, runId, ALL, 4)).toEqual([
      {
        position: 0,
        trajectory: 'late',
        trainingStep: 4,
        turn: null,
        annotator: 'judge',
        attempt: 3,
        signals: { x: 1 },
      },
      { position: 2, trajectory: 'late', trainingStep: 4, turn: 1, annotator: 'human', attempt: 0, signals: { y: 2 } },
    ]);
    expect(await lastAnnotations(db.pool, runId, ALL, 5)).toEqual(new Map([[4, 4]]));
    expect(await lastAnnotations(db.pool, runId, ALL, 4)).toEqual(new Map([[4, 2]]));
    expect(await lastAnnotations(db.pool, runId, { first: 5, last: 9 }, 5)).toEqual(new Map());
  });
});

describe('finishedRecords', () => {
  it('gives whole trajectories by step and end, in pages bounded by their size', async () => {
    const whole = anEvent.whole('b', 2, { trainingStep: 1, outcomeReward: 1, signals: { a: 1 } });
    const runId = await projected([
      whole,
      anEvent.turn('a', 0, { reward: 1 }),
      anEvent.end('a', { success: 0 }),
      anEvent.end('broken', { turnCount: 1 }),
      anEvent.whole('c', 1, { trainingStep: 1 }),
      anEvent.whole('out', 1, { trainingStep: 9 }),
    ]);
    const pages = await Array.fromAsync(finishedRecords(db.pool, runId, { first: 0, last: 8 }, { pageBytes: 400 }));
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['a', 'b'], ['c']]);
    expect(pages[0]).toEqual([
      {
        id: 'a',
        group: 'g',
        trainingStep: 0,
        success: false,
        turns: [{ state: 'state 0', action: 'action 0', reward: 1 }],
      },
      {
        id: 'b',
        group: 'g',
        trainingStep: 1,
        outcomeReward: 1,
        signals: { a: 1 },
        turns: [
          { state: 'state 0', action: 'action 0' },
          { state: 'state 1', action: 'action 1' },
        ],
      },
    ]);
  });
});

describe('signalsOf', () => {
  it('says which signals a run carries', async () => {
    const runId = await projected([
      anEvent.turn('t', 0, { signals: { v: 2 } }),
      anEvent.annotation('t', { signals: { v: 1 } }),
    ]);
    expect(await signalsOf(db.pool, runId)).toEqual([
      { source: 'annotated', level: 'trajectory', name: 'v', rows: 1, numbers: 1, minimum: 1, maximum: 1, sum: 1 },
      { source: 'recorded', level: 'turn', name: 'v', rows: 1, numbers: 1, minimum: 2, maximum: 2, sum: 2 },
    ]);
  });
});
