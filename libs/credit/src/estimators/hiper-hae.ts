import type { NumericValues } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { actionPenalties } from '../invalid-actions.js';
import { isWhole } from '../is-whole.js';
import type { TextValues } from '../signal-kinds.js';
import { standardScores } from '../standard-scores.js';

const HiperHaeParams = z.strictObject({
  gamma: z.number().min(0).max(1).default(1).describe('discount per turn'),
  turnLambda: z.number().min(0).max(1).default(1).describe('trace decay inside a segment'),
  segmentLambda: z.number().min(0).max(1).default(0.95).describe('trace decay from segment to segment'),
  normalizeAdvantage: z.boolean().default(false).describe('standardise each head over the batch (both recipes do)'),
  keepPenalty: z.number().default(0).describe('added for keeping the subgoal: -0.3 for ALFWorld, -3.5 for WebShop'),
  keepPenaltyMode: z
    .enum(['normalized', 'fixed'])
    .default('normalized')
    .describe('divided by the number of turns, or whole on every turn that keeps'),
  keepConsistencyPenalty: z.number().default(0).describe('added where a turn keeps its subgoal and prints another'),
  keepConsistencyRequiresBoth: z.boolean().default(true).describe('not where one of the two printed no subgoal'),
  invalidActionPenalty: z.number().nonnegative().default(0.1).describe('taken from the reward of an invalid turn'),
  bootstrapTruncated: z.boolean().default(false).describe('a trajectory that was cut goes on with its own value'),
});
type Params = z.infer<typeof HiperHaeParams>;

/** What the decision to switch, the subgoals and the recorded rewards say, in turns of one batch. */
interface Hierarchy {
  readonly turnOffsets: Int32Array;
  /** [turns] 1: a new subgoal */
  readonly switched: NumericValues;
  /** [turns] with the penalties */
  readonly reward: Float64Array;
  readonly valueLow: NumericValues;
  readonly valueHigh: NumericValues;
  /** [trajectories] 1: cut by a limit */
  readonly truncated: NumericValues | undefined;
}

/**
 * The reward with what the method takes from it.
 *
 *     keep:         + keepPenalty / T on every turn that keeps, for T > 1 ('normalized'); + keepPenalty ('fixed')
 *     consistency:  + keepConsistencyPenalty where a turn t ≥ 1 keeps, and its subgoal is not that of turn t − 1
 *
 * The first turn keeps if it says so, although a segment starts there.
 *
 * @returns [turns]
 */
export function keptRewards(
  reward: NumericValues,
  switched: NumericValues,
  subgoal: TextValues | undefined,
  turnOffsets: Int32Array,
  params: Pick<Params, 'keepPenalty' | 'keepPenaltyMode' | 'keepConsistencyPenalty' | 'keepConsistencyRequiresBoth'>,
): Float64Array {
  const result = Float64Array.from(reward);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const turns = turnOffsets[i + 1] - turnOffsets[i];
    const share = params.keepPenaltyMode === 'fixed' ? 1 : turns > 1 ? 1 / turns : 0;
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      if (switched[t] === 1) continue;
      result[t] += params.keepPenalty * share;
      if (t > turnOffsets[i] && isInconsistent(subgoal?.[t - 1], subgoal?.[t], params.keepConsistencyRequiresBoth))
        result[t] += params.keepConsistencyPenalty;
    }
  }
  return result;
}

function isInconsistent(before: string | null | undefined, now: string | null | undefined, both: boolean): boolean {
  if (both && (!before || !now)) return false;
  return !now || before !== now;
}

/**
 * Three advantages. A segment runs from one switch to the next; `end` is 0 after a true end, where nothing follows.
 *
 *     low:   δ[t] = r[t] + γ · end · next − low[t],  A[t] = δ[t] + γλ · end · A[t+1]
 *            next = low[t+1] inside the segment, high of the next segment at its end, where the trace stops
 *     high:  A[k] = Σ_j γ^j r[b+j] + γ^D · end · next − high[b] + γ^D · λ' · end · A[k+1]     D turns from b
 *     term:  G[t] = r[t] + γ · G[t+1] inside the segment, from high of the next
 *
 * A trajectory that was cut goes on with its own value (bootstrapTruncated) or 0.
 */
function hierarchicalAdvantage(hierarchy: Hierarchy, params: Params) {
  const { turnOffsets, switched, reward, valueLow, valueHigh, truncated } = hierarchy;
  const { gamma, turnLambda, segmentLambda, bootstrapTruncated } = params;
  const count = reward.length;
  const boundary = new Float64Array(count);
  const low = new Float64Array(count);
  const high = new Float64Array(count).fill(NaN);
  const returnTerm = new Float64Array(count);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    const isCut = truncated?.[i] === 1;
    let end = turnOffsets[i + 1];
    let nextHigh = 0;
    while (end > turnOffsets[i]) {
      let start = end - 1;
      while (start > turnOffsets[i] && switched[start] !== 1) start--;
      const isLast = end === turnOffsets[i + 1];
      const ownValue = isCut && bootstrapTruncated;
      const lowAfter = isLast ? (ownValue ? valueLow[end - 1] : 0) : valueHigh[end];
      const highAfter = isLast ? (ownValue ? valueHigh[start] : 0) : valueHigh[end];

      let trace = 0;
      let target = highAfter;
      for (let t = end - 1; t >= start; t--) {
        trace =
          reward[t] + gamma * (t === end - 1 ? lowAfter : valueLow[t + 1]) - valueLow[t] + gamma * turnLambda * trace;
        target = reward[t] + gamma * target;
        low[t] = trace;
        returnTerm[t] = target;
      }
      boundary[start] = 1;
      nextHigh = target - valueHigh[start] + gamma ** (end - start) * segmentLambda * nextHigh;
      high[start] = nextHigh;
      end = start;
    }
  }
  return { boundary, low, high, returnTerm };
}

/** (A − mean) / (std + 1e-8) over the rows that say something, population spread. */
function standardised(values: Float64Array): Float64Array {
  const segment = Int32Array.from(values, (value) => (Number.isNaN(value) ? -1 : 0));
  const scores = standardScores(values, segment, 1, { epsilon: 1e-8, singleton: 'zero', ddof: 0 });
  return scores.map((score, t) => (segment[t] < 0 ? NaN : score));
}

/**
 * HiPER: the action, the subgoal and the decision to switch each get an advantage of their own. The credit of a turn is
 * its action's; the others stand in columns.
 */
export const hiperHae = defineEstimator({
  id: 'hiper-hae',
  version: 1,
  title: 'Hierarchical advantage estimation (HiPER)',
  citation: { paper: 'arXiv:2602.16165', code: 'JonP07/HiPER-agent:hiper_hae/core_hae.py@9d3c118' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: false,
  requires: ['turn.switch', 'turn.reward', 'turn.valueLow', 'turn.valueHigh'],
  accepts: ['turn.subgoal', 'turn.valueTerm', 'turn.isActionValid', 'trajectory.truncated'],
  kinds: { 'turn.subgoal': 'text' },
  params: HiperHaeParams,
  estimate({ turnOffsets }, columns, params) {
    const { 'turn.switch': switched, 'turn.valueLow': valueLow, 'turn.valueHigh': valueHigh } = columns;
    const { 'turn.subgoal': subgoal, 'turn.valueTerm': valueTerm, 'trajectory.truncated': truncated } = columns;
    const penalty = actionPenalties(columns['turn.isActionValid'], switched.length, params.invalidActionPenalty);
    const kept = keptRewards(columns['turn.reward'], switched, subgoal, turnOffsets, params);
    const reward = kept.map((value, t) => value - penalty[t]);
    const heads = hierarchicalAdvantage({ turnOffsets, switched, reward, valueLow, valueHigh, truncated }, params);

    // Without a subgoal there is no token that could get its advantage.
    const ofSubgoal = heads.high.map((value, t) => (subgoal?.[t] ? value : NaN));
    const finished = params.normalizeAdvantage ? standardised : (values: Float64Array) => values;
    const level = 'turn';
    const values = finished(heads.low);
    const explain: Record<string, Column> = {
      boundary: { level, values: heads.boundary },
      advantageLow: { level, values },
      advantageHigh: { level, values: finished(ofSubgoal) },
      returnLow: { level, values: heads.low.map((value, t) => value + valueLow[t]) },
      returnHigh: { level, values: heads.high.map((value, t) => value + valueHigh[t]) },
    };
    if (isWhole(valueTerm)) {
      const term = heads.returnTerm.map((value, t) => value - valueTerm[t]);
      explain.advantageTerm = { level, values: finished(term) };
      explain.returnTerm = { level, values: heads.returnTerm };
    }
    return { level, values, explain };
  },
});
