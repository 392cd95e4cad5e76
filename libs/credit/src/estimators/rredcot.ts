import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator, type Credit } from '../estimator.js';

type Lists = readonly (readonly number[] | null)[];

/**
 * The value of a prefix by the policy's own belief in candidate answers.
 *
 *     V = Σ_m e^(log p(y_m)) · u(y_m)
 *
 * NaN where a prefix has not as many utilities as candidates.
 *
 * @param logprobs, utilities [turns] a list per turn, of candidates given the context BEFORE the turn
 * @returns [turns]
 */
export function candidateValues(logprobs: Lists, utilities: Lists): Float64Array {
  return Float64Array.from(logprobs, (list, t) => {
    if (list!.length !== utilities[t]!.length) return NaN;
    return list!.reduce((sum, logprob, m) => sum + Math.exp(logprob) * utilities[t]![m], 0);
  });
}

/** r[t] = V[t + 1] − V[t]; the last turn gets the rest, R − V[last] */
function segmentRewards(value: Float64Array, outcome: ArrayLike<number>, { turnOffsets }: TrajectoryBatch) {
  const reward = new Float64Array(value.length);
  for (let i = 0; i < outcome.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      reward[t] = (t + 1 < turnOffsets[i + 1] ? value[t + 1] : outcome[i]) - value[t];
    }
  }
  return reward;
}

/**
 * RREDCoT: a segment is paid with the change of the policy's own value of the prefix. Reconstructed.
 *
 *     V[t] = Σ_m e^(log p(y_m | prefix t)) · u(y_m);  r[t] = V[t + 1] − V[t],  r[last] = R − V[last]
 */
export const rredcot = defineEstimator({
  id: 'rredcot',
  version: 1,
  title: 'Reward redistributed by candidate answers (RREDCoT)',
  citation: { paper: 'arXiv:2606.06475' },
  status: 'reconstructed',
  gives: 'reward',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.candidateLogprobs', 'turn.candidateUtilities', 'trajectory.outcomeReward'],
  accepts: [],
  kinds: { 'turn.candidateLogprobs': z.array(z.number()), 'turn.candidateUtilities': z.array(z.number()) },
  params: z.strictObject({}),
  estimate(trajectories, columns): Credit {
    const { 'turn.candidateLogprobs': logprobs, 'turn.candidateUtilities': utilities } = columns;
    const value = candidateValues(logprobs, utilities);
    const reward = segmentRewards(value, columns['trajectory.outcomeReward'], trajectories);
    const unmatched = logprobs.filter((list, t) => list!.length !== utilities[t]!.length).length;
    const level = 'turn';
    return {
      level,
      values: reward,
      explain: { prefixValue: { level, values: value }, turnReward: { level, values: reward } },
      ...(unmatched > 0 && {
        silent: {
          rows: unmatchedRows(logprobs, utilities, trajectories),
          why: `candidateUtilities and candidateLogprobs differ in length on ${unmatched} ${unmatched === 1 ? 'turn' : 'turns'}`,
        },
      }),
    };
  },
});

/** How many turns have an own or a next value that cannot be told. */
function unmatchedRows(logprobs: Lists, utilities: Lists, { turnOffsets }: TrajectoryBatch): number {
  const isUnmatched = (t: number) => logprobs[t]!.length !== utilities[t]!.length;
  let rows = 0;
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      if (isUnmatched(t) || (t + 1 < turnOffsets[i + 1] && isUnmatched(t + 1))) rows++;
    }
  }
  return rows;
}
