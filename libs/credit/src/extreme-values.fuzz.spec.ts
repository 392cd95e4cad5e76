import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrajectoryRecords } from './estimate.js';
import { outcomeSignals } from './estimator.fixture.js';
import { ESTIMATORS } from './estimators/index.js';
import { columnsOfTokens, informationSignals } from './information-signals.fixture.js';
import { judgeSignals } from './judge-signals.fixture.js';
import { progressSignals } from './progress-signals.fixture.js';
import { runEstimator, type Outcome } from './run-estimator.js';
import { treeSignals } from './tree-signals.fixture.js';
import { turnCredit } from './turn-credit.js';

const EXTREMES = [0, -0, 1, -1, 5e-324, -5e-324, 2 ** -1022, 1e-12, 1e308, -1e308, Number.MAX_VALUE, -Number.MAX_VALUE];
const number = fc.oneof(
  fc.constantFrom(...EXTREMES),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0.1, 1, 2),
);
const said = fc.oneof({ weight: 12, arbitrary: number }, { weight: 1, arbitrary: fc.constant(null) });
/** What a float32 holds, as ingest lets through. */
const tokenNumber = number.map((value) => {
  const float = Math.fround(value);
  return Number.isFinite(float) ? float : Math.sign(value) * 3.4e38;
});
const text = fc.oneof(
  fc.constantFrom('', 'hall', 'hall ', '\ud800', '😀'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);

const progress = progressSignals(number);
const information = informationSignals(number, tokenNumber);
const judged = judgeSignals(number);
const tree = treeSignals(number, tokenNumber);
const turn = fc
  .record({
    state: text,
    action: text,
    more: fc
      .tuple(progress.turn, information.turn, tree.turn, judged.turn)
      .map(([a, b, c, d]) => ({ ...a, ...b, ...c, ...d })),
    reward: said,
    valueEstimate: said,
    isActionValid: fc.oneof(fc.boolean(), number),
    tokens: fc.array(
      fc
        .tuple(
          information.token,
          judged.token,
          fc.record({ reward: tokenNumber, value: tokenNumber, mask: fc.constantFrom(0, 1, 1, 0.5), ...tree.token }),
        )
        .map(([a, b, own]) => ({ ...a, ...b, ...own })),
      { maxLength: 3 },
    ),
  })
  .map(({ state, action, more, reward, valueEstimate, isActionValid, tokens }) => ({
    state,
    action,
    reward,
    signals: { ...more, valueEstimate, isActionValid },
    tokens: columnsOfTokens(tokens),
  }));

const records: fc.Arbitrary<TrajectoryRecords> = fc
  .array(
    fc.record({
      group: fc.constantFrom('g', 'h'),
      outcomeReward: said,
      success: fc.boolean(),
      signals: fc
        .tuple(progress.trajectory, outcomeSignals(said), information.trajectory, tree.trajectory, judged.trajectory)
        .map(([a, b, c, d, e]) => ({ ...a, ...b, ...c, ...d, ...e })),
      parent: tree.parent,
      turns: fc.array(turn, { maxLength: 4 }),
    }),
    { maxLength: 8 },
  )
  .map((trajectories) =>
    trajectories.map(({ parent, ...each }, i) => ({
      id: `t${i}`,
      trainingStep: 0,
      ...each,
      ...(parent && { parent }),
    })),
  );

/** Params as a client may send them: each of the right kind or of a wrong one, of any size. */
const param = fc.oneof(
  fc.boolean(),
  number,
  fc.constantFrom<unknown>(0.5, 2, null, 'raw', 'zero', 'token', 'turn', 'turns', 'trajectories', 'centered', []),
);
const paramsOf = (names: readonly string[]): fc.Arbitrary<object> =>
  names.length === 0 ? fc.constant({}) : someParamsOf(names);
const someParamsOf = (names: readonly string[]) =>
  fc.oneof(
    fc.constant({}),
    fc.constantFrom(...names).chain((name) => param.map((value) => ({ [name]: value }))),
    fc.record(Object.fromEntries(names.map((name) => [name, param])), { requiredKeys: [] }),
  );

/** The outcome, or null where the params are refused; anything else that is thrown is a bug. */
function outcomeOf(id: number, trajectories: TrajectoryBatch, params: object): Outcome | null {
  try {
    return runEstimator(ESTIMATORS[id], trajectories, params);
  } catch (error) {
    if (error instanceof RecreditError && error.code === 'params.invalid') return null;
    throw error;
  }
}

describe.each(ESTIMATORS.map(({ id, params }, i) => ({ id, i, names: Object.keys(params.shape) })))(
  '$id',
  ({ i, names }) => {
    it('answers any numbers and any params with finite credit or none', () => {
      let credited = 0;
      fc.assert(
        fc.property(records, paramsOf(names), (given, params) => {
          const trajectories = trajectoryBatch(given);
          const outcome = outcomeOf(i, trajectories, params);
          if (outcome?.kind !== 'credit') return;
          credited++;
          const { credit } = outcome;
          const unsaid = credit.values.filter((value) => !Number.isFinite(value));
          expect(unsaid.every((value) => Number.isNaN(value))).toBe(true);
          for (const { values } of Object.values(credit.explain ?? {})) {
            for (const value of values) expect(Math.abs(Number(value))).not.toBe(Infinity);
          }
          expect(unsaid.length === 0 || outcome.warnings.some((warning) => warning.startsWith('no credit on'))).toBe(
            true,
          );
          expect(turnCredit(trajectories, credit).every((value) => Math.abs(value) !== Infinity)).toBe(true);
        }),
        { numRuns: 400 },
      );
      expect(credited).toBeGreaterThan(20);
    }, 120_000);
  },
);
