import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { rowsOfTrajectories } from '../level-rows.js';

const SpoChainParams = z.strictObject({
  cutpointInterval: z.int().positive().default(5).describe('every so many uncertain tokens the response is cut'),
  probThreshold: z.number().min(0).max(1).default(0.9).describe('a token less probable than this is uncertain'),
});
type Params = z.infer<typeof SpoChainParams>;

/** What one trajectory brings: its tokens are the rows from .. to − 1 of the columns. */
interface Chain {
  readonly from: number;
  readonly to: number;
  /** value before the first token; NaN: not estimated */
  readonly promptValue: number;
  readonly outcome: number;
}

/** Positions after which the response is cut, just before every so-many-th uncertain token; -1: before the first. */
function cutpointsOf(probability: Float64Array, { from, to }: Chain, { cutpointInterval, probThreshold }: Params) {
  const before: number[] = [];
  for (let k = from; k < to; k++) if (probability[k] < probThreshold) before.push(k - from - 1);
  return before.filter((_, i) => i % cutpointInterval === 0);
}

/**
 * What each segment changed, on its tokens, from the first to the last.
 *
 * @param valueAfter [tokens] NaN: not estimated
 * @param advantage [tokens] written
 */
function segmentAdvantages(
  valueAfter: NumericValues | undefined,
  cutpoints: readonly number[],
  { from, to, promptValue, outcome }: Chain,
  advantage: Float64Array,
): void {
  let base = cutpoints[0] === -1 ? promptValue : NaN;
  let done = from;
  const ends = [...cutpoints.filter((c) => c >= 0 && c < to - from - 1), to - from - 1];
  for (const c of ends) {
    const value = from + c === to - 1 ? outcome : (valueAfter?.[from + c] ?? NaN);
    if (Number.isNaN(value)) continue;
    advantage.fill(Number.isNaN(base) ? 0 : value - base, done, from + c + 1);
    base = value;
    done = from + c + 1;
  }
}

/**
 * SPO-chain: a response is cut before uncertain tokens, and these alone get what their segment changed.
 *
 *     U    = tokens with exp(logprob) < probThreshold;   cutpoints = (U − 1)[:: cutpointInterval],   -1: the prompt
 *     V[c] = mcValueAfter[c] at a cutpoint, the outcome at the last token, promptValue at -1
 *     A[k] = V at the end of k's segment − V at its start      0 where exp(logprob) > probThreshold
 *
 * Without a value at its start a segment gets 0; a cutpoint without an estimate is none; without a cutpoint all is 0.
 */
export const spoChain = defineEstimator({
  id: 'spo-chain',
  version: 1,
  title: 'Segment advantages by rollouts from cutpoints (SPO-chain)',
  citation: {
    paper: 'arXiv:2505.23564',
    code: 'AIFrameResearch/SPO:math_episode_generator_with_mc_advantages.py@b9fc6a2',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['token'],
  groupRelative: false,
  requires: ['trajectory.outcomeReward', 'token.logprob', 'token.mcValueAfter'],
  accepts: ['trajectory.promptValue', 'token.mask'],
  sparse: ['token.mcValueAfter'],
  params: SpoChainParams,
  estimate(trajectories, columns, params) {
    const { 'token.logprob': logprob, 'token.mask': mask, 'trajectory.promptValue': promptValue } = columns;
    const offsets = rowsOfTrajectories(trajectories, 'token');
    const probability = Float64Array.from(logprob, (l, k) => (mask?.[k] === 0 ? 1 : Math.exp(l)));
    const advantage = new Float64Array(logprob.length);
    const cutpoints: number[] = [];
    const cutOffsets = new Int32Array(offsets.length);
    let unestimated = 0;

    columns['trajectory.outcomeReward'].forEach((outcome, i) => {
      const chain = { from: offsets[i], to: offsets[i + 1], promptValue: promptValue?.[i] ?? NaN, outcome };
      const cuts = cutpointsOf(probability, chain, params);
      const valueAt = (c: number) =>
        c < 0 ? chain.promptValue : (columns['token.mcValueAfter'][chain.from + c] ?? NaN);
      unestimated += cuts.filter((c) => Number.isNaN(valueAt(c))).length;
      if (cuts.length > 0) segmentAdvantages(columns['token.mcValueAfter'], cuts, chain, advantage);
      cutpoints.push(...cuts);
      cutOffsets[i + 1] = cutpoints.length;
    });
    const certain = (k: number) => probability[k] > params.probThreshold || mask?.[k] === 0;
    return {
      level: 'token',
      values: advantage.map((value, k) => (certain(k) ? 0 : value)),
      explain: {
        cutpoints: { level: 'trajectory', values: Float64Array.from(cutpoints), offsets: cutOffsets },
      },
      warnings: unestimated > 0 ? [`cutpoints without a value: ${unestimated} of ${cutpoints.length}`] : [],
    };
  },
});
