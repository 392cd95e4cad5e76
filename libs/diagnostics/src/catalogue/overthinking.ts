import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { mean, successOf } from '../groups.js';
import { tokensOfTurns } from '../lengths.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/**
 * How much is written after the right answer stands there.
 *
 *     h                      first turn with `containsAnswer`
 *     firstCorrectRatio      (h + 1) / T for a success that has one, else 0; its mean is over the entries above 0 (DECS)
 *     redundantTokenShare    tokens after turn h / tokens, of successes that have one
 *     savableTokenShare      all those tokens / all tokens of the step
 *
 * Source: pixas/DECS, reward_manager.py (ratio and its mean); the token shares are ours.
 *
 * @returns per trajectory null: undefined
 */
export function overthinking(trajectories: TrajectoryBatch) {
  const { ids, turnOffsets } = trajectories;
  const answered = numbers(trajectories, 'turn.containsAnswer');
  const success = successOf(trajectories);
  const tokens = tokensOfTurns(trajectories);
  const sum = (from: number, to: number) => {
    let total = 0;
    for (let turn = from; turn < to; turn++) total += tokens[turn];
    return total;
  };
  const firstCorrectRatio: number[] = [];
  const redundantTokenShare: (number | null)[] = [];
  let savable = 0;
  ids.forEach((_, i) => {
    const [from, to] = [turnOffsets[i], turnOffsets[i + 1]];
    const within = answered?.subarray(from, to).findIndex((flag) => flag > 0) ?? -1;
    const hit = within < 0 ? to : from + within;
    if (success[i] !== 1 || hit === to) {
      firstCorrectRatio.push(0);
      redundantTokenShare.push(null);
      return;
    }
    firstCorrectRatio.push((hit - from + 1) / (to - from));
    const after = sum(hit + 1, to);
    const all = sum(from, to);
    savable += after;
    redundantTokenShare.push(all > 0 ? after / all : null);
  });
  const spent = sum(0, tokens.length);
  const known = (values: readonly (number | null)[]) => mean(values.filter((value) => value !== null));
  return {
    firstCorrectRatio,
    firstCorrectRatioMean: mean(firstCorrectRatio.filter((ratio) => ratio > 0)),
    redundantTokenShare,
    redundantTokenShareMean: known(redundantTokenShare),
    savableTokenShare: spent > 0 ? savable / spent : null,
  };
}

const EVIDENCE_PER_STEP = 3;
const NO_ANSWER = 'no success says where its answer first stands';

export const overthinkingDiagnostic = stepwise({
  id: 'overthinking',
  version: 1,
  title: 'Writing on after the answer',
  question: 'How much is generated after the right answer stands there already?',
  remedy: 'Reward the first right answer and not what follows (DECS), or stop a rollout once it has answered.',
  headline: 'redundantTokenShare',
  level: 'trajectory',
  status: 'verified',
  source: 'ratio: pixas/DECS reward_manager.py; token shares ours',
  requires: ['turn.containsAnswer'],
  accepts: ['turn.tokenCount', 'token.mask', 'trajectory.outcomeReward', 'trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    redundant: z.number().min(0).max(1).default(0.5).describe('share of tokens after the answer: a warning'),
  }),

  measure({ trajectories }) {
    const found = overthinking(trajectories);
    const { ids, groups, groupOf } = trajectories;
    if (ids.length === 0) return null;
    return {
      values: {
        redundantTokenShare: found.redundantTokenShareMean,
        firstCorrectRatio: found.firstCorrectRatioMean,
        savableTokenShare: found.savableTokenShare,
        answeredShare: found.firstCorrectRatio.filter((ratio) => ratio > 0).length / ids.length,
      },
      reasons: {
        redundantTokenShare: found.firstCorrectRatioMean === null ? NO_ANSWER : 'needs turn.tokenCount or tokens',
        firstCorrectRatio: NO_ANSWER,
        savableTokenShare: 'needs turn.tokenCount or tokens on every turn',
      },
      observations: ids.length,
      evidence: found.redundantTokenShare
        .flatMap((share, i) => (share !== null && share > 0 ? [{ share, i }] : []))
        .sort((a, b) => b.share - a.share)
        .slice(0, EVIDENCE_PER_STEP)
        .map(({ share, i }) => ({
          group: groups[groupOf[i]],
          trajectory: ids[i],
          note: `${percent(share)} of its tokens follow the answer`,
          weight: share,
        })),
    };
  },

  sentence({ redundantTokenShare, firstCorrectRatio, savableTokenShare }) {
    if (firstCorrectRatio === null) return `cannot be said: ${NO_ANSWER}`;
    const first = `the answer first stands after ${percent(firstCorrectRatio)} of a success's turns`;
    if (redundantTokenShare === null) return `${first}; how many tokens follow is not known`;
    const savable = savableTokenShare === null ? '' : `, ${percent(savableTokenShare)} of all tokens`;
    return `${first}; ${percent(redundantTokenShare)} of its tokens come after it${savable}`;
  },

  rules: ({ redundant }) => [
    {
      id: 'overthinking',
      level: 'warn',
      all: [{ value: 'redundantTokenShare', op: '>', limit: redundant }],
      minimum: 32,
      says: `more than ${percent(redundant)} of a success's tokens come after its answer`,
    },
  ],
});
