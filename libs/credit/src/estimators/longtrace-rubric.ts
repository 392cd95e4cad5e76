import type { TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import { unansweredGroupsOfOne } from '../groups-of-one.js';

const LongtraceRubricParams = z.strictObject({
  rubricRatio: z
    .number()
    .min(0)
    .max(1)
    .default(0.3)
    .describe("share of the reward that coverage gets (the paper's rho)"),
  normalizeByGroupMax: z
    .boolean()
    .default(true)
    .describe('divide coverage by the best of the group, wrong rollouts included; not in variant longrlvr'),
  variant: z
    .enum(['onlyPositive', 'onlyNegative', 'all', 'longrlvr'])
    .default('onlyPositive')
    .describe('whose reward coverage enters: right rollouts, wrong ones, all; or the F2 of cited chunks (longrlvr)'),
  statsScope: z
    .enum(['group', 'batch'])
    .default('group')
    .describe(
      "compare inside the group, or over the whole batch as the code does where groups differ in size ('batch')",
    ),
  ...GROUP_PARAMS,
  singleton: z
    .enum(['zero', 'raw'])
    .default('zero')
    .describe("one rollout alone, undefined in the reference with its spread, gets 0 ('zero') or its reward ('raw')"),
});
type Params = z.infer<typeof LongtraceRubricParams>;

/** Lower case, runs of `[a-z0-9_]` and single CJK ideographs, one space between them. */
export function normalizedText(text: string): string {
  return (text.toLowerCase().match(/[a-z0-9_]+|[\u4e00-\u9fff]/g) ?? []).join(' ');
}

/** Share of the entities that occur in the text, as substrings of the normalised text; 0 without entities. */
export function entityCoverage(entities: readonly string[], text: string): number {
  if (entities.length === 0) return 0;
  const within = normalizedText(text);
  return entities.filter((entity) => within.includes(normalizedText(entity))).length / entities.length;
}

/**
 * F2 of the chunks named in the last `<useful_chunks>` element against those that hold the evidence.
 *
 *     F2 = 5 p r / (4 p + r)      p: precision, r: recall; 0 where both are
 */
export function chunkF2(gold: readonly number[], text: string): number {
  const last = [...text.matchAll(/<useful_chunks>(.*?)<\/useful_chunks>/gs)].at(-1)?.[1] ?? '';
  const named = new Set([...last.matchAll(/<chunk[_ ]?(\d+)>/gi)].map(([, id]) => Number(id)));
  const wanted = new Set(gold);
  const hits = [...named].filter((id) => wanted.has(id)).length;
  return hits === 0 ? 0 : (5 * hits) / (4 * wanted.size + named.size);
}

/** [trajectories] what each rollout visibly said, turn by turn. */
function visibleTexts({ turnOffsets, ids }: TrajectoryBatch, visibleText: readonly (string | null)[]): string[] {
  return ids.map((_, i) => visibleText.slice(turnOffsets[i], turnOffsets[i + 1]).map((text) => text!.trim()).join('\n\n')); // prettier-ignore
}

/** [trajectories] divided by the best of their group; as it is where that is 0. */
function byGroupMax(coverage: Float64Array, trajectories: TrajectoryBatch): Float64Array {
  const shared = coverage.slice();
  for (const members of groupMembers(trajectories)) {
    const best = members.reduce((max, i) => Math.max(max, coverage[i]), 0);
    if (best > 0) for (const i of members) shared[i] /= best;
  }
  return shared;
}

/** The outcome mixed with coverage r, where the variant says so. */
function mixed(outcome: number, r: number, { variant, rubricRatio: rho }: Params): number {
  if (variant === 'longrlvr') return outcome + rho * r + (1 - rho) * outcome * r;
  if (variant === 'onlyPositive' && outcome === 0) return outcome;
  if (variant === 'onlyNegative') return outcome > 0 ? outcome : rho * r;
  return (1 - rho) * outcome + rho * r;
}

/**
 * LongTraceRL: the share of the evidence chain's entities that a response names, added to right answers only.
 *
 *     r  = share of entities named (entityCoverage)        r' = r / max_g r
 *     R  = (1 − ρ) o + ρ r' where o ≠ 0, else o             (onlyPositive)
 *     longrlvr: R = o + ρ F + (1 − ρ) o F                   F: chunkF2
 *     A  = (R − mean) / (std + ε)                           over the group or the batch, ddof = 1
 */
export const longtraceRubric = defineEstimator({
  id: 'longtrace-rubric',
  version: 1,
  title: 'Entity coverage of right answers (LongTraceRL)',
  citation: { paper: 'arXiv:2605.31584', code: 'THU-KEG/LongTraceRL:slime/slime/ray/rollout.py@415b643' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'turn.visibleText'],
  accepts: [],
  conditional: [
    { when: { variant: 'longrlvr' }, requires: ['trajectory.goldChunks'] },
    ...(['onlyPositive', 'onlyNegative', 'all'] as const).map((variant) => ({
      when: { variant },
      requires: ['trajectory.rubricEntities'] as const,
    })),
  ],
  kinds: {
    'turn.visibleText': 'text',
    'trajectory.rubricEntities': z.array(z.string()),
    'trajectory.goldChunks': z.array(z.int()),
  },
  params: LongtraceRubricParams,
  estimate(trajectories, columns, params) {
    const outcome = columns['trajectory.outcomeReward'];
    const texts = visibleTexts(trajectories, columns['turn.visibleText']);
    const isChunks = params.variant === 'longrlvr';
    const coverage = Float64Array.from(texts, (text, i) =>
      isChunks
        ? chunkF2(columns['trajectory.goldChunks'][i]!, text)
        : entityCoverage(columns['trajectory.rubricEntities'][i]!, text),
    );
    const shared = params.normalizeByGroupMax && !isChunks ? byGroupMax(coverage, trajectories) : coverage;
    const reward = shared.map((r, i) => mixed(outcome[i], r, params));
    const isBatch = params.statsScope === 'batch';
    const scope = isBatch ? { groupOf: new Int32Array(reward.length), groupCount: 1 } : trajectories;
    const level = 'trajectory';
    return {
      level,
      values: groupAdvantage(reward, scope, params),
      explain: {
        rubricReward: { level, values: coverage },
        trajectoryReward: { level, values: reward },
      },
      warnings: params.singleton === 'zero' && !isBatch ? unansweredGroupsOfOne(trajectories) : [],
    };
  },
});
