import {
  findEstimator,
  parseParams,
  runEstimator,
  turnCredit,
  type AnyEstimator,
  type MissingSignal,
} from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import type { Claim, Logged } from './audit-step.js';

/** The estimator that a trainer says it uses. */
export interface ClaimedEstimator {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Estimators and params that are a formula of the audit's own table, in the order in which they are looked for. */
const FORMULAS: readonly (readonly [formula: string, id: string, params: Readonly<Record<string, unknown>>])[] = [
  ['grpo', 'grpo', {}],
  ['grpo-zero-singleton', 'grpo', { singleton: 'zero' }],
  ['grpo-epsilon-1e-4', 'grpo', { epsilon: 1e-4 }],
  ['no-std', 'grpo', { normalizeByStd: false }],
  ['turn-weighted-statistics', 'grpo', { statsAcross: 'turns' }],
  ['rloo', 'rloo', {}],
  ['group-mean-batch-std', 'lite-ppo', {}],
];

/**
 * Recomputes what the trainer says it used. A credit per token is taken per turn where the trainer logged per turn.
 *
 * @throws RecreditError `estimator.unknown`, `params.invalid`
 */
export function claimOf(
  trajectories: TrajectoryBatch,
  { id, params }: ClaimedEstimator,
  logged: Pick<Logged, 'level'>,
  estimators?: readonly AnyEstimator[],
): Claim | { readonly missing: readonly MissingSignal[] } {
  const estimator = findEstimator(id, estimators);
  const outcome = runEstimator(estimator, trajectories, params);
  if (outcome.kind === 'missing') return { missing: outcome.missing };
  const { credit } = outcome;
  const whole = parseParams(estimator, params);
  const gamma = typeof whole['gamma'] === 'number' ? whole['gamma'] : 1;
  const formula = formulaOf(estimator, whole);
  if (credit.level === 'token' && logged.level === 'turn') {
    return { formula, gamma, level: 'turn', advantage: turnCredit(trajectories, credit) };
  }
  return { formula, gamma, level: credit.level, advantage: credit.values };
}

function formulaOf(estimator: AnyEstimator, params: Readonly<Record<string, unknown>>): string {
  const known = FORMULAS.find(
    ([, id, own]) => id === estimator.id && JSON.stringify(parseParams(estimator, own)) === JSON.stringify(params),
  );
  return known?.[0] ?? estimator.id;
}
