import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { ownerOf, repeatedMoments, repeatKeys, repeatRows, segmentMoments } from '#lib/numeric';
import { centred, scaled, type Singleton } from './group-scores.js';
import { standardScores } from './standard-scores.js';

export interface EpisodeParams {
  readonly statsAcross: 'turns' | 'trajectories';
  readonly normalizeByStd: boolean;
  readonly epsilon: number;
  readonly singleton: Singleton;
}

/**
 * The episode part of step-group methods: every turn carries its trajectory's outcome, less its own penalty, and is
 * judged against its group.
 *
 *     S[i,t] = R[i] − p[i,t]
 *     E[i,t] = (S[i,t] − mean_g) / (std_g + ε)      std with ddof = 1; without normalizeByStd no division
 *
 * The sample of a group is every turn of it ('turns': long rollouts weigh more), or the first turn of each trajectory
 * ('trajectories'). With 'trajectories' a penalised turn may lie outside a sample that agrees: it is then divided by ε
 * alone, as in the reference.
 *
 * @param reward [trajectories]
 * @param penalty [turns] null: nobody pays
 * @returns [turns]
 */
export function episodeAdvantage(
  reward: NumericValues,
  penalty: Float64Array | null,
  { turnOffsets, groupOf, groupCount }: Pick<TrajectoryBatch, 'turnOffsets' | 'groupOf' | 'groupCount'>,
  { statsAcross, normalizeByStd, epsilon, singleton }: EpisodeParams,
): Float64Array {
  if (penalty === null) {
    // every turn of a trajectory scores the same
    const sample = statsAcross === 'turns' ? turnOffsets : onceWhereAny(turnOffsets);
    const moments = repeatedMoments(reward, sample, groupOf, groupCount);
    const centre = centred(reward, groupOf, moments, singleton);
    return repeatRows(normalizeByStd ? scaled(centre, groupOf, moments, epsilon) : centre, turnOffsets);
  }
  const trajectoryOf = ownerOf(turnOffsets);
  const groupOfTurn = repeatKeys(groupOf, turnOffsets);

  if (statsAcross === 'turns') {
    const score = penalty.map((p, t) => reward[trajectoryOf[t]] - p);
    return standardScores(score, groupOfTurn, groupCount, { normalizeByStd, epsilon, singleton });
  }

  const hasTurns = Float64Array.from(groupOf, (_, i) => (turnOffsets[i + 1] > turnOffsets[i] ? 1 : 0));
  const firstPenalty = hasTurns.map((has, i) => (has ? penalty[turnOffsets[i]] : 0));
  const first = firstPenalty.map((p, i) => reward[i] - p);
  const moments = segmentMoments(first, hasTurns, groupOf, groupCount);
  const firstCentre = centred(first, groupOf, moments, singleton);
  // A row differs from its trajectory's first one by the penalties alone.
  const centre = penalty.map((p, t) => firstCentre[trajectoryOf[t]] + (firstPenalty[trajectoryOf[t]] - p));
  return normalizeByStd ? scaled(centre, groupOfTurn, moments, epsilon) : centre;
}

/** Offsets by which each row has one child, or none where it had none. */
function onceWhereAny(offsets: Int32Array): Int32Array {
  const once = new Int32Array(offsets.length);
  for (let i = 1; i < offsets.length; i++) once[i] = once[i - 1] + (offsets[i] > offsets[i - 1] ? 1 : 0);
  return once;
}
