import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { estimate, type Estimate, type TrajectoryRecords } from './estimate.js';
import type { AnyEstimator, Credit } from './estimator.js';
import {
  columnsOfTokens,
  informationSignals,
  movedApart,
  WHOLE_TOKENS,
  WHOLE_TRAJECTORY_INFORMATION,
  WHOLE_TURN_INFORMATION,
} from './information-signals.fixture.js';
import {
  judgeSignals,
  WHOLE_TOKEN_JUDGED,
  WHOLE_TRAJECTORY_JUDGED,
  WHOLE_TURN_JUDGED,
} from './judge-signals.fixture.js';
import { progressSignals, WHOLE_TRAJECTORY, WHOLE_TURN_SIGNALS } from './progress-signals.fixture.js';
import { runEstimator } from './run-estimator.js';
import { treeSignals, WHOLE_TREE_SIGNALS } from './tree-signals.fixture.js';

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

/** Numbers, nested or not, agree one by one; NaN with NaN. */
export function expectNumbers(got: unknown, want: unknown, tolerance = 1e-6): void {
  const numbers = flat(got);
  const expected = flat(want);
  expect(numbers).toHaveLength(expected.length);
  const wrong = numbers.filter((value, i) => {
    return !(Math.abs(value - expected[i]) <= tolerance) && !(Number.isNaN(value) && Number.isNaN(expected[i]));
  });
  if (wrong.length > 0) expect(numbers).toEqual(expected);
}

/** What is nested, in a row; NaN where nothing is said. */
export function flat(values: unknown): number[] {
  if (values === null) return [NaN];
  if (typeof values === 'number') return [values];
  return Array.from(values as Iterable<unknown>).flatMap(flat);
}

const reward = fc.constantFrom(-1, 0, 0, 0.1, 0.2, 0.3, 0.5, 1, 1);
const progress = progressSignals(reward);
const information = informationSignals(reward);
const judged = judgeSignals(reward);
const tree = treeSignals(reward);
const token = fc
  .tuple(
    information.token,
    judged.token,
    fc.record({ reward, value: reward, mask: fc.constantFrom(1, 1, 1, 0), ...tree.token }),
  )
  .map(([a, b, own]) => ({ ...a, ...b, ...own }));
const turn = fc
  .record({
    state: fc.constantFrom('kitchen', 'hall', 'garden'),
    action: fc.constantFrom('go', 'take', 'look'),
    more: fc
      .tuple(progress.turn, information.turn, tree.turn, judged.turn)
      .map(([a, b, c, d]) => ({ ...a, ...b, ...c, ...d })),
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
        .tuple(progress.trajectory, outcomeSignals(reward), information.trajectory, tree.trajectory, judged.trajectory)
        .map(([a, b, c, d, e]) => ({ ...a, ...b, ...c, ...d, ...e })),
      parent: tree.parent,
      turns: fc.array(turn, { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((records) => [
    ...records.map((record, i) => ({
      id: `t${i}`,
      trainingStep: 0,
      ...withoutNoParent(record),
      turns: record.turns.map(spokenTurn(i)),
    })),
    // One that has every column, so that none is missing from the batch.
    { ...rolloutWithoutTurns('whole'), turns: [WHOLE_TURN] },
  ]);

const withoutNoParent = <Drawn extends Pick<Record, 'parent'> | { parent: undefined }>({ parent, ...rest }: Drawn) => ({
  ...rest,
  ...(parent && { parent }),
});

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
    ...WHOLE_TREE_SIGNALS.trajectory,
    ...WHOLE_TRAJECTORY_JUDGED,
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
  signals: {
    ...WHOLE_TURN_SIGNALS,
    ...WHOLE_TURN_INFORMATION,
    ...WHOLE_TREE_SIGNALS.turn,
    ...WHOLE_TURN_JUDGED,
    valueEstimate: 0,
    isActionValid: true,
  },
  tokens: columnsOfTokens(
    WHOLE_TOKENS.map((token) => ({
      ...token,
      ...WHOLE_TREE_SIGNALS.token,
      ...WHOLE_TOKEN_JUDGED,
      reward: 0,
      value: 0,
      mask: 1,
    })),
  ),
};
