import {
  findEstimator,
  parseParams,
  runEstimator,
  turnCredit,
  type AnyEstimator,
  type MissingSignal,
} from '#lib/credit';
import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { ownerOf } from '#lib/numeric';
import { rowOffsets, type Claim, type Logged } from './audit-step.js';
import { lossOf, lossyRewards } from './rounding.js';

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
 * Recomputes what the trainer says it used, and how far one that counts in float32 may be off. A credit per token is taken
 * per turn where the trainer logged per turn.
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
  const recompute = (batch: TrajectoryBatch) => {
    const outcome = runEstimator(estimator, batch, params);
    if (outcome.kind === 'missing') return outcome;
    const { level, values } = outcome.credit;
    if (level !== 'token' || logged.level !== 'turn') return { kind: 'credit', level, advantage: values } as const;
    return { kind: 'credit', level: 'turn', advantage: turnCredit(batch, outcome.credit) } as const;
  };
  const found = recompute(trajectories);
  if (found.kind === 'missing') return { missing: found.missing };
  const { level, advantage } = found;
  const whole = parseParams(estimator, params);
  // who adds an epsilon divides by a spread, and that alone makes much of what is lost
  const loss = typeof whole['epsilon'] === 'number' ? lossIn(trajectories, found, recompute) : null;
  const gamma = typeof whole['gamma'] === 'number' ? whole['gamma'] : 1;
  const formula = formulaOf(estimator, whole);
  return { formula, gamma, level, advantage, loss };
}

type Recomputed = Pick<Claim, 'level' | 'advantage'> & { readonly kind: 'credit' };

/** [rows of level] how far a trainer that counts in float32 may be off; null: not at all */
function lossIn(
  trajectories: TrajectoryBatch,
  { level, advantage }: Recomputed,
  recompute: (batch: TrajectoryBatch) => Recomputed | { readonly kind: 'missing' },
): Float64Array | null {
  const { groupOf, groupCount, columns } = trajectories;
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  const excluded = numbers(trajectories, 'trajectory.excluded');
  const lossy = reward && lossyRewards({ reward, groupOf, groupCount, excluded });
  if (!lossy) return null;
  const nudged = new Map(columns).set('trajectory.outcomeReward', { kind: 'number', values: lossy.nudged });
  const moved = recompute({ ...trajectories, columns: nudged });
  if (moved.kind === 'missing') return null;
  return lossOf(lossy, advantage, moved.advantage, ownerOf(rowOffsets(trajectories, level)));
}

function formulaOf(estimator: AnyEstimator, params: Readonly<Record<string, unknown>>): string {
  const known = FORMULAS.find(
    ([, id, own]) => id === estimator.id && JSON.stringify(parseParams(estimator, own)) === JSON.stringify(params),
  );
  return known?.[0] ?? estimator.id;
}
