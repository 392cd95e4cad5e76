import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { discountedSums, ownerOf, rowLengths, rowSums, softminWeights } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { groupMembers } from '../group-members.js';
import { unansweredGroupsOfOne } from '../groups-of-one.js';
import { isWhole } from '../is-whole.js';
import { rlooAdvantage } from './rloo.js';

/** A column of a number per token is left out where it would be longer than this. */
const MOST_SHOWN_TOKENS = 2 ** 24;

const PureMinFormParams = z.strictObject({
  softminTemperature: z.number().positive().default(0.1).describe('lower puts all weight on the worst turn'),
  baselineGranularity: z
    .enum(['token', 'turn'])
    .default('token')
    .describe("what the others' process outcomes are shared over: their tokens, or their turns"),
  useProcessReward: z.boolean().default(true).describe('process rewards give credit'),
  useOutcomeReward: z.boolean().default(true).describe("the outcome gives credit (the reference's verifiable reward)"),
  outcomeWeight: z.number().default(1).describe("weight of the outcome's part (the reference's coefficient)"),
  creditForm: z.enum(['min', 'mean']).default('min').describe('weight of the turns: softmin, or all alike'),
  maskSeparatorToken: z.boolean().default(true).describe('the last token of every turn gets 0 (column tokenAdvantage)'),
  singleton: z
    .enum(['zero', 'raw'])
    .default('zero')
    .describe("a group of one, undefined in the reference, gets 0 ('zero') or has no baseline ('raw')"),
});
type Params = z.infer<typeof PureMinFormParams>;

/**
 * What the others of the group earned per token or per turn; 0 where there is no other.
 *
 *     token: β[i] = Σ_{j≠i} O[j] / Σ_{j≠i} tokens[j]        turn: β[i] = mean_{j≠i} O[j] / T[j]
 *
 * @param outcome O [trajectories]
 * @param tokens, turns [trajectories] a trajectory without a turn has no part in the mean
 * @returns [trajectories]
 */
export function processBaseline(
  outcome: Float64Array,
  tokens: Float64Array,
  turns: Float64Array,
  trajectories: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>,
  granularity: Params['baselineGranularity'],
): Float64Array {
  const numerator = granularity === 'token' ? outcome : outcome.map((o, i) => (turns[i] === 0 ? 0 : o / turns[i]));
  const divisor = granularity === 'token' ? tokens : turns.map((t) => (t === 0 ? 0 : 1));
  const baseline = new Float64Array(outcome.length);
  for (const members of groupMembers(trajectories)) {
    const sum = (values: Float64Array) => members.reduce((total, i) => total + values[i], 0);
    const [earned, over] = [sum(numerator), sum(divisor)];
    for (const i of members) {
      const others = over - divisor[i];
      if (members.length > 1 && others !== 0) baseline[i] = (earned - numerator[i]) / others;
    }
  }
  return baseline;
}

/** Weight of each turn's process reward: softmin, or the same for all turns of a trajectory. [turns] */
function turnWeights(reward: NumericValues, turnOffsets: Int32Array, { creditForm, softminTemperature }: Params) {
  if (creditForm === 'min') return softminWeights(reward, turnOffsets, softminTemperature);
  const turns = rowLengths(turnOffsets);
  return Float64Array.from(ownerOf(turnOffsets), (i) => 1 / turns[i]);
}

/** Each turn's credit on its tokens; null where token counts are not whole, or too many to show. */
function tokenLists(credit: Float64Array, tokenCount: NumericValues, maskLast: boolean): Column | null {
  const offsets = new Int32Array(credit.length + 1);
  for (let t = 0; t < credit.length; t++) {
    const end = offsets[t] + tokenCount[t];
    if (!(tokenCount[t] >= 0 && Number.isInteger(tokenCount[t]) && end <= MOST_SHOWN_TOKENS)) return null;
    offsets[t + 1] = end;
  }
  const values = new Float64Array(offsets[credit.length]);
  credit.forEach((value, t) => values.fill(value, offsets[t], offsets[t + 1]));
  if (maskLast) for (let t = 0; t < credit.length; t++) if (offsets[t] < offsets[t + 1]) values[offsets[t + 1] - 1] = 0;
  return { level: 'turn', values, offsets };
}

/**
 * PURE: the worst turn decides. Its process reward is taken with softmin weights instead of summed over turns.
 *
 *     q[t] = w[t] · r[t]        w = softmax(−r / T) over the trajectory's turns        O[i] = Σ_t q[t]
 *     c[t] = q[t] − β[i] · (tokens[t] − 1)      turn baseline: q[t] − β[i]            (processBaseline)
 *     last turn: c += outcomeWeight · (v[i] − mean_{j≠i} v[j])      v = solved − 1, and 0 where nothing can be verified
 *     A[t] = Σ_{u ≥ t} c[u]
 *
 * With the token baseline a group that agrees does not get 0: the separator counts in the sum but not in the turn.
 */
export const pureMinForm = defineEstimator({
  id: 'pure-min-form',
  version: 1,
  title: 'Min-form process credit (PURE)',
  citation: { code: 'CJReinforce/PURE:openrlhf/trainer/ppo_utils/experience_maker.py@41f9363' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.tokenCount'],
  accepts: [],
  conditional: [
    { when: { useProcessReward: true }, requires: ['turn.processReward'] },
    { when: { useProcessReward: false }, accepts: ['turn.processReward'] },
    { when: { useOutcomeReward: true }, requires: ['trajectory.outcomeReward', 'trajectory.hasVerifier'] },
  ],
  params: PureMinFormParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets } = trajectories;
    const { 'turn.tokenCount': tokenCount, 'turn.processReward': processReward } = columns;
    const weighted = isWhole(processReward)
      ? turnWeights(processReward, turnOffsets, params).map((w, t) => w * processReward[t])
      : null;
    const used = params.useProcessReward && weighted ? weighted : new Float64Array(tokenCount.length);
    const outcome = rowSums(used, turnOffsets);
    const [tokens, turns] = [rowSums(tokenCount, turnOffsets), rowLengths(turnOffsets)];
    const baseline = processBaseline(outcome, tokens, turns, trajectories, params.baselineGranularity);

    const perToken = params.baselineGranularity === 'token';
    const owner = ownerOf(turnOffsets);
    const reward = used.map((q, t) => q - baseline[owner[t]] * (perToken ? tokenCount[t] - 1 : 1));
    if (params.useOutcomeReward) addVerified(reward, trajectories, columns, params);
    if (params.singleton === 'zero') clearGroupsOfOne(reward, trajectories);
    const values = discountedSums(reward, turnOffsets, 1);

    const level = 'turn';
    const shown = tokenLists(values, tokenCount, params.maskSeparatorToken);
    return {
      level,
      values,
      explain: {
        ...(weighted && { weightedProcessReward: { level, values: weighted } }),
        processOutcome: { level: 'trajectory', values: outcome },
        turnReward: { level, values: reward },
        ...(shown && { tokenAdvantage: shown }),
      },
      warnings: params.singleton === 'zero' ? unansweredGroupsOfOne(trajectories) : [],
    };
  },
});

/** Adds the verified outcome, against the others of the group, to the last turn of each trajectory. */
function addVerified(
  reward: Float64Array,
  trajectories: TrajectoryBatch,
  columns: Readonly<Record<'trajectory.outcomeReward' | 'trajectory.hasVerifier', NumericValues>>,
  { outcomeWeight, singleton }: Params,
): void {
  const verified = Float64Array.from(columns['trajectory.outcomeReward'], (solved, i) =>
    columns['trajectory.hasVerifier'][i] === 1 ? solved - 1 : 0,
  );
  const { advantage } = rlooAdvantage(verified, trajectories, singleton);
  const { turnOffsets } = trajectories;
  advantage.forEach((value, i) => {
    if (turnOffsets[i] < turnOffsets[i + 1]) reward[turnOffsets[i + 1] - 1] += outcomeWeight * value;
  });
}

function clearGroupsOfOne(reward: Float64Array, trajectories: TrajectoryBatch): void {
  for (const members of groupMembers(trajectories)) {
    if (members.length !== 1) continue;
    const [i] = members;
    reward.fill(0, trajectories.turnOffsets[i], trajectories.turnOffsets[i + 1]);
  }
}
