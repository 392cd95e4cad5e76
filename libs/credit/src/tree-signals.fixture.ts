import * as fc from 'fast-check';
import type { TrajectoryRecords } from './estimate.js';

type Record = TrajectoryRecords[number];

/** A rollout of so many turns, branching off another one after one of its turns. */
export function branch(id: string, outcomeReward: number, turns: number, parent?: [of: string, turn: number]): Record {
  return {
    id,
    group: 'g',
    trainingStep: 0,
    outcomeReward,
    success: outcomeReward > 0,
    turns: Array.from({ length: turns }, () => ({})),
    ...(parent && { parent: { trajectory: parent[0], turn: parent[1] } }),
  };
}

/** The tree of the docs: t0 = A B C wins, t1 = A D loses, t2 = A B E loses, t3 = F G wins. */
export const TOY_TREE = [
  branch('t0', 1, 3),
  branch('t1', 0, 2, ['t0', 0]),
  branch('t2', 0, 3, ['t0', 1]),
  branch('t3', 1, 2),
];

/** Turn signals, a list of them per trajectory, on the turns of records. */
export function withTurns(records: readonly Record[], signals: readonly (readonly object[])[]): Record[] {
  return records.map((record, i) => ({
    ...record,
    turns: record.turns.map((turn, t) => ({ ...turn, signals: signals[i][t] as NonNullable<typeof turn.signals> })),
  }));
}

const SYNTAX_TREES = [
  { type: 'SELECT', value: 'a' },
  { type: 'SELECT', value: 'a', children: [{ type: 'COLUMN', value: 'b', children: [] }] },
];

/** Signals that the estimators of trees, search, ranking and preferences read. */
export const treeSignals = (number: fc.Arbitrary<number>, tokenNumber = number) => ({
  turn: fc.record({
    judgeThink: fc.constantFrom(-1, 0, 1),
    judgeAction: fc.constantFrom(-1, 0, 1),
    valueEstimateAfter: fc.option(number, { nil: null }),
    processReward: number,
    mcValue: fc.option(number, { nil: null }),
    astSimilarity: number,
    qValue: number,
    logprob: number,
    refLogprob: number,
    syntaxTree: fc.constantFrom(...SYNTAX_TREES),
    fullSyntaxTree: fc.constantFrom(...SYNTAX_TREES),
  }),
  trajectory: fc.record({
    selectedForTraining: fc.constantFrom(true, 1, false),
    testResults: fc.array(fc.constantFrom<boolean | number>(0, 1, true), { minLength: 2, maxLength: 2 }),
    comparisons: fc.array(
      fc.record({
        a: fc.constantFrom('t0', 't1', 't2', 'whole'),
        b: fc.constantFrom('t1', 't2', 't3', 'whole'),
        scoreA: number,
        scoreB: number,
      }),
      { maxLength: 3 },
    ),
    judgeScore: number,
    promptValue: fc.option(number, { nil: null }),
  }),
  token: { prmLogprob: tokenNumber, refLogprob: tokenNumber, mcValueAfter: fc.option(tokenNumber, { nil: null }) },
  parent: fc.option(fc.record({ trajectory: fc.nat(7).map((i) => `t${i}`), turn: fc.integer({ min: -1, max: 3 }) }), {
    nil: undefined,
    freq: 2,
  }),
});

/** A turn and a trajectory that have all of them. */
export const WHOLE_TREE_SIGNALS = {
  turn: {
    judgeThink: 0,
    judgeAction: 0,
    valueEstimateAfter: 0,
    processReward: 0,
    mcValue: 0,
    astSimilarity: 0.5,
    qValue: 0,
    logprob: 0,
    refLogprob: 0,
    syntaxTree: SYNTAX_TREES[0],
    fullSyntaxTree: SYNTAX_TREES[1],
  },
  trajectory: { selectedForTraining: true, testResults: [1, 0], comparisons: [], judgeScore: 0, promptValue: 0 },
  token: { prmLogprob: 0, refLogprob: 0, mcValueAfter: 0 },
};
