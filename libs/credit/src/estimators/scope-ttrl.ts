import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { rowMeans, seededRandom } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import type { TextValues } from '../signal-kinds.js';
import { firstOfMost } from '../votes.js';

const Positions = z.record(z.string(), z.array(z.array(z.int().nonnegative())));

const ScopeTtrlParams = z.strictObject({
  subgroupSize: z
    .int()
    .positive()
    .default(8)
    .describe('rollouts, in the order of the batch, that share a pseudo-label'),
  votesPerSubgroup: z.int().positive().default(32).describe('rollouts of the group that are drawn to vote on a label'),
  subgroupSamples: Positions.nullable()
    .default(null)
    .describe('who votes: by group, a list of positions in the group per subgroup; null: drawn with the seed'),
  seed: z.int().nonnegative().default(0).describe('of the draws'),
  confidenceDecimals: z.int().min(0).max(12).default(3).describe('decimals that a token’s value is rounded to'),
  confidenceSign: z
    .enum(['surprisal', 'logprob'])
    .default('surprisal')
    .describe("'surprisal', as the code: unlikely text weighs more; 'logprob' the other way round"),
  misalignedWhenNoAnswer: z
    .boolean()
    .default(false)
    .describe('as the code: who has no answer is dropped from the answers but not from their weights'),
  searchSubgroupSize: z.boolean().default(false).describe('choose the size of the subgroups; subgroupSize is not read'),
  candidateSizes: z
    .array(z.int().positive())
    .nullable()
    .default(null)
    .describe('sizes to choose from; null: 1, 2, 4, …, n'),
  subgroupSamplesBySize: z
    .record(z.string(), Positions)
    .nullable()
    .default(null)
    .describe('who votes while the size is chosen, by size and group; null: drawn with the seed'),
  paretoWeight: z.number().min(0).max(1).default(0.7).describe('of consensus against diversity, in choosing (lambda)'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof ScopeTtrlParams>;

/** To the nearest, halves to even, as numpy rounds. */
export function roundHalfEven(value: number, decimals: number): number {
  const scaled = value * 10 ** decimals;
  const below = Math.floor(scaled);
  const rest = scaled - below;
  const whole = rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
  return whole / 10 ** decimals;
}

/**
 * The answer that a sample of rollouts gives most weight to; the first seen wins a tie, null where nobody answered.
 *
 *     label = argmax_a Σ c[i] over the sample's i that answered a
 */
export function pseudoLabel(
  sample: readonly number[],
  answers: TextValues,
  confidence: Float64Array,
  misaligned: boolean,
): string | null {
  const answered = sample.filter((i) => answers[i] !== null);
  const votes = new Map<string, number>();
  answered.forEach((i, k) => {
    const weight = confidence[misaligned ? sample[k] : i] || 0;
    votes.set(answers[i]!, (votes.get(answers[i]!) ?? 0) + weight);
  });
  return firstOfMost(votes);
}

/** What the subgroups of every group need to find their labels. */
interface Electorate {
  readonly trajectories: TrajectoryBatch;
  readonly members: readonly (readonly number[])[];
  readonly answers: TextValues;
  readonly confidence: Float64Array;
  readonly params: Params;
}

/** Positions without replacement: the first few of a shuffle, of which only what moved is kept. */
function drawn(count: number, votes: number, seed: string): number[] {
  const random = seededRandom(seed);
  const moved = new Map<number, number>();
  return Array.from({ length: Math.min(votes, count) }, (_, i) => {
    const j = i + random.integer(count - i);
    const chosen = moved.get(j) ?? j;
    moved.set(j, moved.get(i) ?? i);
    return chosen;
  });
}

interface Labelled {
  /** [trajectories] the label of its subgroup; null where none of its voters answered */
  readonly labels: (string | null)[];
  /** [trajectories] 1: its answer is the label */
  readonly reward: Float64Array;
  /** [groups] how many labels differ */
  readonly diversity: number[];
}

function label(size: number, samples: z.infer<typeof Positions> | null, round: string, who: Electorate): Labelled {
  const { trajectories, members, answers, confidence, params } = who;
  const labels = answers.map((): string | null => null);
  const diversity = members.map((rows, g) => {
    const given = samples?.[trajectories.groups[g]];
    const labelOf = Array.from({ length: Math.ceil(rows.length / size) }, (_, j) => {
      const positions = given?.[j] ?? drawn(rows.length, params.votesPerSubgroup, `${params.seed}/${round}/${g}/${j}`);
      const sample = positions.flatMap((position) => rows[position] ?? []);
      return pseudoLabel(sample, answers, confidence, params.misalignedWhenNoAnswer);
    });
    rows.forEach((i, position) => (labels[i] = labelOf[Math.floor(position / size)]));
    return new Set(labelOf).size;
  });
  const reward = Float64Array.from(answers, (answer, i) => (answer !== null && answer === labels[i] ? 1 : 0));
  return { labels, reward, diversity };
}

/** A size of subgroups, tried. */
interface Candidate {
  readonly subgroupSize: number;
  readonly rewardRate: number;
  readonly diversity: number;
}

/** Of the sizes that no other beats in both, the one nearest to the best of both. Norms: NaN where a size is beaten. */
export function chooseSize(candidates: readonly Candidate[], paretoWeight: number) {
  const isBeaten = (a: Candidate) =>
    candidates.some((b) => {
      const noWorse = b.rewardRate >= a.rewardRate && b.diversity >= a.diversity;
      return noWorse && (b.rewardRate > a.rewardRate || b.diversity > a.diversity);
    });
  const pareto = candidates.map((candidate) => !isBeaten(candidate));
  const normed = (values: readonly number[]) => {
    const kept = values.filter((_, i) => pareto[i]);
    const [min, max] = [Math.min(...kept), Math.max(...kept)];
    return values.map((value, i) => (pareto[i] ? (value - min) / (max - min + 1e-8) : NaN));
  };
  const normReward = normed(candidates.map(({ rewardRate }) => rewardRate));
  const normDiversity = normed(candidates.map(({ diversity }) => diversity));
  const distance = candidates.map((_, i) => {
    return Math.sqrt(paretoWeight * (1 - normReward[i]) ** 2 + (1 - paretoWeight) * (1 - normDiversity[i]) ** 2);
  });
  let chosen = -1;
  distance.forEach((d, i) => {
    if (pareto[i] && (chosen < 0 || d < distance[chosen])) chosen = i;
  });
  return { pareto, normReward, normDiversity, chosen };
}

const mean = (values: Iterable<number>) => {
  const all = [...values];
  return all.length === 0 ? 0 : all.reduce((sum, value) => sum + value, 0) / all.length;
};

function doublings(most: number): number[] {
  const sizes = [1];
  while (sizes[sizes.length - 1] * 2 <= most) sizes.push(sizes[sizes.length - 1] * 2);
  return sizes;
}

/** Tries the sizes and says which is best, and what was found of each. */
function searchSize(who: Electorate): { size: number; explain: Record<string, Column> } {
  const { params, members } = who;
  const largest = members.reduce((most, rows) => Math.max(most, rows.length), 1);
  const candidates = (params.candidateSizes ?? doublings(largest)).map((size): Candidate => {
    const samples = params.subgroupSamplesBySize?.[String(size)] ?? null;
    const { reward, diversity } = label(size, samples, `search ${size}`, who);
    return { subgroupSize: size, rewardRate: mean(reward), diversity: mean(diversity) };
  });
  const { pareto, normReward, normDiversity, chosen } = chooseSize(candidates, params.paretoWeight);
  const size = candidates[chosen]?.subgroupSize ?? 1;
  const offsets = Int32Array.of(0, candidates.length);
  const list = (values: Iterable<number>): Column => ({ level: 'shard', values: Float64Array.from(values), offsets });
  return {
    size,
    explain: {
      'candidates.subgroupSize': list(candidates.map(({ subgroupSize }) => subgroupSize)),
      'candidates.rewardRate': list(candidates.map(({ rewardRate }) => rewardRate)),
      'candidates.diversity': list(candidates.map(({ diversity }) => diversity)),
      'candidates.pareto': list(pareto.map(Number)),
      'candidates.normReward': list(normReward),
      'candidates.normDiversity': list(normDiversity),
      chosenSubgroupSize: { level: 'shard', values: Float64Array.of(size) },
    },
  };
}

/** [turns] mean of the rounded token values over the generated tokens; NaN where a turn has none. */
function turnConfidence(
  logprob: NumericValues,
  mask: NumericValues | undefined,
  tokenOffsets: Int32Array,
  params: Params,
) {
  const sign = params.confidenceSign === 'surprisal' ? -1 : 1;
  const rounded = Float64Array.from(logprob, (lp) => roundHalfEven(sign * lp, params.confidenceDecimals));
  return rowMeans(rounded, tokenOffsets, mask ?? null);
}

/**
 * SCOPE at test time: without ground truth, subgroups of a prompt's rollouts draw their own votes and have their own
 * pseudo-label, votes weighing by how confident the turns were.
 *
 *     c[i]   = mean over turns of the mean over tokens of round(−logprob, 3)
 *     label  = the answer with the most weight among the voters of the subgroup      (pseudoLabel)
 *     R[i]   = [answer of i = label of its subgroup]
 *     A[i]   = (R[i] − mean_g R) / (std_g R + ε)      over the whole group, ddof = 1
 */
export const scopeTtrl = defineEstimator({
  id: 'scope-ttrl',
  version: 1,
  title: 'Subgroup pseudo-labels at test time (SCOPE)',
  citation: { paper: 'arXiv:2512.15146', code: 'szu-tera/SCOPE:verl/trainer/ppo/myutils.py@0c45ca7' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.finalAnswer', 'token.logprob'],
  accepts: ['token.mask'],
  sparse: ['trajectory.finalAnswer'],
  kinds: { 'trajectory.finalAnswer': 'text' },
  params: ScopeTtrlParams,
  estimate(trajectories, columns, params) {
    const { turnOffsets, tokenOffsets } = trajectories;
    const ofTurns = turnConfidence(columns['token.logprob'], columns['token.mask'], tokenOffsets, params);
    const confidence = rowMeans(ofTurns, turnOffsets);
    const answers = columns['trajectory.finalAnswer'];
    const who = { trajectories, members: groupMembers(trajectories), answers, confidence, params };
    const search = params.searchSubgroupSize ? searchSize(who) : null;
    const { labels, reward } = label(search?.size ?? params.subgroupSize, params.subgroupSamples, 'label', who);
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, trajectories, params),
      explain: {
        turnConfidence: { level: 'turn', values: ofTurns },
        trajectoryConfidence: { level, values: confidence },
        pseudoLabel: { level, values: labels },
        trajectoryReward: { level, values: reward },
        ...search?.explain,
      },
    };
  },
});
