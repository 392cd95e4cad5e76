import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { estimate, type Estimate, type TrajectoryRecords } from './estimate.js';
import type { AnyEstimator, Credit } from './estimator.js';
import {
  columnsOfTokens,
  informationSignals,
  movedApart,
  WHOLE_TOKEN_INFORMATION,
  WHOLE_TRAJECTORY_INFORMATION,
  WHOLE_TURN_INFORMATION,
} from './information-signals.fixture.js';
import { progressSignals, WHOLE_TRAJECTORY, WHOLE_TURN_SIGNALS } from './progress-signals.fixture.js';
import { runEstimator } from './run-estimator.js';

type Record = TrajectoryRecords[number];
type Turn = Record['turns'][number];

/** A rollout that needs no more than a group, an outcome and turns; its id is new. */
export function rollout(group: string, outcomeReward: number, turns: Turn[] = [{}], trainingStep = 0): Record {
  return { id: `t${nextId++}`, group, trainingStep, outcomeReward, turns };
}

let nextId = 0;

/** Rollouts of one turn, one per reward. */
export function rollouts(group: string, ...rewards: number[]): Record[] {
  return rewards.map((reward) => rollout(group, reward));
}

/** A rollout with a turn per number, of so many generated tokens. */
export function spoken(group: string, outcomeReward: number, ...tokens: number[]): Record {
  const turns = tokens.map((length) => ({ tokens: { mask: Array.from({ length }, () => 1) } }));
  return rollout(group, outcomeReward, turns);
}

/** Turns with these states and rewards. */
export function visits(...turns: [state: string, reward: number][]): Turn[] {
  return turns.map(([state, reward]) => ({ state, reward }));
}

/** The credit of records in one batch; fails where a signal is missing. */
export function creditOf(estimator: AnyEstimator, records: TrajectoryRecords, params: object = {}): Credit {
  const outcome = runEstimator(estimator, trajectoryBatch(records), params);
  if (outcome.kind === 'missing') throw new TypeError(`missing ${outcome.missing.map(({ path }) => path).join()}`);
  return outcome.credit;
}

/** The estimate of records; fails where a signal is missing. */
export function estimateOf(estimator: AnyEstimator, records: TrajectoryRecords, params: object = {}): Estimate {
  const result = estimate(estimator, records, params);
  if (result.kind === 'missing') throw new TypeError(`missing ${result.missing.map(({ path }) => path).join()}`);
  return result;
}

/** Numbers, nested or not, agree one by one. */
export function expectNumbers(got: unknown, want: unknown, tolerance = 1e-6): void {
  const numbers = flat(got);
  const expected = flat(want);
  expect(numbers).toHaveLength(expected.length);
  const wrong = numbers.filter((value, i) => !(Math.abs(value - expected[i]) <= tolerance));
  if (wrong.length > 0) expect(numbers).toEqual(expected);
}

/** What is nested, in a row. */
export function flat(values: unknown): number[] {
  if (typeof values === 'number') return [values];
  return Array.from(values as Iterable<unknown>).flatMap(flat);
}

const reward = fc.constantFrom(-1, 0, 0, 0.1, 0.2, 0.3, 0.5, 1, 1);
const progress = progressSignals(reward);
const information = informationSignals(reward);
const token = fc
  .tuple(information.token, fc.record({ reward, value: reward, mask: fc.constantFrom(1, 1, 1, 0) }))
  .map(([more, own]) => ({ ...more, ...own }));
const turn = fc
  .record({
    state: fc.constantFrom('kitchen', 'hall', 'garden'),
    action: fc.constantFrom('go', 'take', 'look'),
    more: fc.tuple(progress.turn, information.turn).map(([a, b]) => ({ ...a, ...b })),
    reward,
    valueEstimate: reward,
    isActionValid: fc.boolean(),
    tokens: fc.array(token, { minLength: 1, maxLength: 3 }),
  })
  .map(({ state, action, more, reward, valueEstimate, isActionValid, tokens }) => ({
    state,
    action,
    reward,
    signals: { ...more, valueEstimate, isActionValid },
    tokens,
  }));

/** Signals of a trajectory that the group-relative estimators read beside its outcome. */
export const outcomeSignals = (number: fc.Arbitrary<number | null>) =>
  fc.record({ greedyReward: number, responseLength: fc.integer({ min: 0, max: 9 }), answerScore: number });

/** Batches of a few groups with every signal that an estimator of the first set reads; some rollouts have no turn. */
export const batches: fc.Arbitrary<Record[]> = fc
  .array(
    fc.record({
      group: fc.constantFrom('g', 'h', 'k'),
      outcomeReward: reward,
      success: fc.boolean(),
      signals: fc
        .tuple(progress.trajectory, outcomeSignals(reward), information.trajectory)
        .map(([a, b, c]) => ({ ...a, ...b, ...c })),
      turns: fc.array(turn, { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((records) => [
    ...records.map((record, i) => ({
      id: `t${i}`,
      trainingStep: 0,
      ...record,
      turns: record.turns.map(spokenTurn(i)),
    })),
    // One that has every column, so that none is missing from the batch.
    { ...rolloutWithoutTurns('whole'), turns: [WHOLE_TURN] },
  ]);

type DrawnTurn = typeof turn extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** A drawn turn with its tokens in columns, none of them ranked like another token of the batch. */
const spokenTurn = (trajectory: number) => (drawn: DrawnTurn, t: number) => ({
  ...drawn,
  tokens: columnsOfTokens(movedApart(drawn.tokens, 64 * trajectory + 8 * t)),
});

/** It did nothing, but says all that a trajectory can say. */
export function rolloutWithoutTurns(id: string): Record {
  const signals = {
    ...WHOLE_TRAJECTORY.signals,
    ...WHOLE_TRAJECTORY_INFORMATION,
    greedyReward: 0,
    responseLength: 1,
    answerScore: 0,
  };
  return { id, group: 'g', trainingStep: 0, outcomeReward: 0, ...WHOLE_TRAJECTORY, signals, turns: [] };
}

const WHOLE_TURN = {
  state: 'hall',
  action: 'go',
  reward: 0,
  signals: { ...WHOLE_TURN_SIGNALS, ...WHOLE_TURN_INFORMATION, valueEstimate: 0, isActionValid: true },
  tokens: columnsOfTokens([{ ...WHOLE_TOKEN_INFORMATION, reward: 0, value: 0, mask: 1 }]),
};
