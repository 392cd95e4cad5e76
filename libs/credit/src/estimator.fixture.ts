import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { estimate, type Estimate, type TrajectoryRecords } from './estimate.js';
import type { AnyEstimator, Credit } from './estimator.js';
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
const token = fc.record({ reward, value: reward, mask: fc.constantFrom(1, 1, 1, 0) });
const turn = fc
  .record({
    state: fc.constantFrom('kitchen', 'hall', 'garden'),
    reward,
    valueEstimate: reward,
    isActionValid: fc.boolean(),
    tokens: fc.array(token, { minLength: 1, maxLength: 3 }),
  })
  .map(({ state, reward, valueEstimate, isActionValid, tokens }) => ({
    state,
    reward,
    signals: { valueEstimate, isActionValid },
    tokens: {
      reward: tokens.map((t) => t.reward),
      value: tokens.map((t) => t.value),
      mask: tokens.map((t) => t.mask),
    },
  }));

/** Batches of a few groups with every signal that an estimator of the first set reads; some rollouts have no turn. */
export const batches: fc.Arbitrary<Record[]> = fc
  .array(
    fc.record({
      group: fc.constantFrom('g', 'h', 'k'),
      outcomeReward: reward,
      turns: fc.array(turn, { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((records) => [
    ...records.map((record, i) => ({ id: `t${i}`, trainingStep: 0, ...record })),
    // One that has every column, so that none is missing from the batch.
    { id: 'whole', group: 'g', trainingStep: 0, outcomeReward: 0, turns: [WHOLE_TURN] },
  ]);

const WHOLE_TURN = {
  state: 'hall',
  reward: 0,
  signals: { valueEstimate: 0, isActionValid: true },
  tokens: { reward: [0], value: [0], mask: [1] },
};
