import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { rowLengths, rowMeans } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { chunkTypes, cutLengths } from '../redundant-chunks.js';

const DecsParams = z.strictObject({
  granularity: z
    .enum(['turn', 'token'])
    .default('turn')
    .describe("credit per chunk from tokenCount, the mean of its tokens; or per recorded token ('token')"),
  lengthRewardWeight: z.number().default(0.1).describe('share of the outcome that redundant tokens may lose (beta)'),
  maxResponseLength: z.int().positive().max(1_000_000).default(16_384).describe('width of the batch, in tokens'),
  skipLastTokens: z.int().nonnegative().default(0).describe('so many last tokens of a redundant chunk are not marked'),
  skipLastChunk: z.boolean().default(false).describe('the last chunk of a response is not marked'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof DecsParams>;

/** Of one response: its reward everywhere, and from `from` to `to` (its redundant tokens) another one. */
interface Span {
  readonly reward: number;
  readonly redundant: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The token rewards of a response of L tokens.
 *
 *     R (1 + β) everywhere, padding too;  R + (1 − L / W) β from the first to the last redundant token of a right one
 *
 * @param marked [tokens of the response]
 */
function spanOf(outcome: number, marked: Float64Array, { lengthRewardWeight, maxResponseLength }: Params): Span {
  const reward = outcome * (1 + lengthRewardWeight);
  const redundant = outcome + (1 - marked.length / maxResponseLength) * lengthRewardWeight;
  const from = marked.indexOf(1);
  if (!(outcome > 0) || from < 0) return { reward, redundant, from: 0, to: 0 };
  return { reward, redundant, from, to: marked.lastIndexOf(1) + 1 };
}

/**
 * Each response against its group, position by position. Between two ends of spans nothing changes, so a group of n costs
 * n for each of at most 2 n + 1 stretches.
 *
 * @param advantage [tokens of all responses] is filled
 * @param offsets [responses + 1] where the tokens of each response begin
 */
function compareByPosition(
  members: readonly number[],
  spans: readonly Span[],
  offsets: Int32Array,
  advantage: Float64Array,
  params: Params,
): void {
  const lengthOf = (i: number) => offsets[i + 1] - offsets[i];
  const longest = Math.max(...members.map(lengthOf));
  const ends = new Set([0, longest, ...members.flatMap((i) => [spans[i].from, spans[i].to])]);
  const stretches = [...ends].sort((a, b) => a - b);
  const oneGroup = { groupOf: new Int32Array(members.length), groupCount: 1 };
  for (let s = 0; s + 1 < stretches.length; s++) {
    const [from, to] = [stretches[s], stretches[s + 1]];
    const rewards = Float64Array.from(members, (i) =>
      spans[i].from <= from && from < spans[i].to ? spans[i].redundant : spans[i].reward,
    );
    const compared = groupAdvantage(rewards, oneGroup, params);
    members.forEach((i, m) => {
      const end = offsets[i] + Math.min(to, lengthOf(i));
      if (offsets[i] + from < end) advantage.fill(compared[m], offsets[i] + from, end);
    });
  }
}

/** [tokens] 1 on the tokens of redundant chunks (`c`, `d`), less what is skipped */
function markRedundant(types: readonly string[], offsets: Int32Array, turnOffsets: Int32Array, params: Params) {
  const marked = new Float64Array(offsets[offsets.length - 1]);
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      const isSkipped = params.skipLastChunk && t === turnOffsets[i + 1] - 1;
      if (isSkipped || (types[t] !== 'c' && types[t] !== 'd')) continue;
      marked.fill(1, offsets[t], Math.max(offsets[t], offsets[t + 1] - params.skipLastTokens));
    }
  }
  return marked;
}

/** Numbers of generated tokens on all recorded ones; 0 outside the mask and beyond the longest response. */
function onRecorded(
  values: Float64Array,
  offsets: Int32Array,
  { tokenOffsets }: TrajectoryBatch,
  mask: NumericValues | undefined,
): Float64Array {
  const recorded = new Float64Array(tokenOffsets[tokenOffsets.length - 1]);
  for (let t = 0; t + 1 < tokenOffsets.length; t++) {
    let next = offsets[t];
    for (let k = tokenOffsets[t]; k < tokenOffsets[t + 1]; k++) {
      if (mask?.[k] !== 0 && next < offsets[t + 1]) recorded[k] = values[next++];
    }
  }
  return recorded;
}

function membersOfGroups({ groupOf, groupCount }: TrajectoryBatch): number[][] {
  const members: number[][] = Array.from({ length: groupCount }, () => []);
  groupOf.forEach((group, i) => members[group].push(i));
  return members;
}

/**
 * DECS: tokens of a right response earn the full bonus, but for the tail after the answer was first said.
 *
 *     r[i, q]: see spanOf;  A[i, q] = (r[i, q] − mean over the group at q) / (std at q + ε)      ddof = 1, padding included
 */
export const decs = defineEstimator({
  id: 'decs',
  version: 1,
  title: 'Decoupled token rewards against overthinking (DECS)',
  citation: { paper: 'arXiv:2509.25827', code: 'pixas/DECS:src_valid/valid_ray_trainer.py@0d12e53' },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn', 'token'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.containsAnswer'],
  accepts: [],
  conditional: [
    { when: { granularity: 'turn' }, requires: ['turn.tokenCount'] },
    { when: { granularity: 'token' }, requires: ['token.mask'] },
  ],
  params: DecsParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, tokenOffsets } = trajectories;
    const isByToken = params.granularity === 'token';
    const mask = columns['token.mask'];
    const tokens = isByToken ? rowLengths(tokenOffsets, mask) : columns['turn.tokenCount'];
    const { lengths, cut } = cutLengths(tokens, turnOffsets, params.maxResponseLength);
    const offsets = new Int32Array(lengths.length + 1);
    lengths.forEach((length, t) => (offsets[t + 1] = offsets[t] + length));

    const outcome = columns['trajectory.outcomeReward'];
    const types: string[] = [];
    outcome.forEach((reward, i) => {
      types.push(...chunkTypes(reward > 0, columns['turn.containsAnswer'], turnOffsets[i], turnOffsets[i + 1]));
    });
    const marked = markRedundant(types, offsets, turnOffsets, params);
    const responses = turnOffsets.map((turn) => offsets[turn]);
    const spans = Array.from(outcome, (reward, i) =>
      spanOf(reward, marked.subarray(responses[i], responses[i + 1]), params),
    );
    const reward = new Float64Array(marked.length);
    spans.forEach((span, i) => {
      reward.fill(span.reward, responses[i], responses[i + 1]);
      reward.fill(span.redundant, responses[i] + span.from, responses[i] + span.to);
    });
    const advantage = new Float64Array(marked.length);
    for (const members of membersOfGroups(trajectories)) {
      compareByPosition(members, spans, responses, advantage, params);
    }

    const shown = (values: Float64Array): Column =>
      isByToken
        ? { level: 'token', values: onRecorded(values, offsets, trajectories, mask) }
        : { level: 'turn', values, offsets };
    const means = rowMeans(advantage, offsets).map((mean, t) => (lengths[t] === 0 ? 0 : mean));
    return {
      level: params.granularity,
      values: isByToken ? onRecorded(advantage, offsets, trajectories, mask) : means,
      explain: {
        chunkType: { level: 'turn', values: types },
        redundantToken: shown(marked),
        tokenReward: shown(reward),
        ...(!isByToken && { tokenAdvantage: shown(advantage) }),
      },
      warnings: cut > 0 ? [`chunks cut at maxResponseLength, ${params.maxResponseLength} tokens: ${cut}`] : [],
    };
  },
});
