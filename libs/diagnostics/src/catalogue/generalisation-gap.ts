import { jsonValues, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineDiagnostic, type Measured, type Values } from '../diagnostic.js';
import { successOf } from '../groups.js';
import { newcombe } from '../intervals.js';
import { counted, figure, percent } from '../sentences.js';

/** Successes of one split of the tasks: `seen`, or what the trainer calls the others. */
export interface SplitTally {
  readonly split: string;
  readonly n: number;
  readonly successes: number;
}

/** The split that the others are held against. */
export const SEEN = 'seen';
/** Of the interval: 90 % to both sides. */
const Z = 1.6448536269514722;

/** The splits of a batch, in the order of their first appearance. */
export function splitTallies(trajectories: TrajectoryBatch): SplitTally[] {
  const column = trajectories.columns.get('trajectory.split');
  const success = successOf(trajectories);
  const tallies = new Map<string, SplitTally>();
  (column ? jsonValues(column) : []).forEach((split, row) => {
    if (typeof split !== 'string' || Number.isNaN(success[row])) return;
    const { n, successes } = tallies.get(split) ?? { n: 0, successes: 0 };
    tallies.set(split, { split, n: n + 1, successes: successes + success[row] });
  });
  return [...tallies.values()];
}

/**
 * How much less is solved of what was not trained on.
 *
 *     gap = success(seen) − success(split)      with Newcombe's interval
 *
 * Source: after AndroidWorld-Generalization; ours.
 *
 * @returns per split but `seen`; none where `seen` was not tried
 */
export function generalisationGap(tallies: readonly SplitTally[]) {
  const seen = tallies.find(({ split }) => split === SEEN);
  if (!seen) return [];
  return tallies
    .filter(({ split }) => split !== SEEN)
    .map((tally) => {
      const [lower, upper] = newcombe(seen, tally, Z);
      return { ...tally, success: tally.successes / tally.n, gap: seen.successes / seen.n - tally.successes / tally.n, lower, upper }; // prettier-ignore
    });
}

function merge(steps: readonly Measured<readonly SplitTally[]>[]): SplitTally[] {
  const merged = new Map<string, SplitTally>();
  for (const { split, n, successes } of steps.flatMap(({ figures }) => figures)) {
    const known = merged.get(split);
    merged.set(split, { split, n: n + (known?.n ?? 0), successes: successes + (known?.successes ?? 0) });
  }
  return [...merged.values()];
}

const NO_SPLIT = 'needs rollouts of the split `seen` and of another';

export const generalisationGapDiagnostic = defineDiagnostic({
  id: 'generalisation-gap',
  version: 1,
  title: 'What was not trained on',
  question: 'How much less is solved of unseen tasks, and does the gap grow?',
  remedy:
    'Widen the training tasks (templates and apps, not instances), stop before the gap opens, or regularise to the start.',
  headline: 'widestGap',
  level: 'run',
  status: 'own',
  source: 'after AndroidWorld-Generalization; ours',
  requires: ['trajectory.split', 'trajectory.outcomeReward'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    window: z.int().min(1).default(10).describe('training steps that are taken together'),
    growth: z.number().min(0).max(1).default(0.1).describe('of a gap since the first window: more is a warning'),
  }),

  measure({ trajectories }) {
    const tallies = splitTallies(trajectories);
    return tallies.length > 0 ? tallies : null;
  },

  read(steps, { window }) {
    const first = new Map(generalisationGap(merge(steps.slice(0, window))).map(({ split, gap }) => [split, gap]));
    const at = (i: number) => generalisationGap(merge(steps.slice(Math.max(0, i + 1 - window), i + 1)));
    const now = at(steps.length - 1).sort((a, b) => b.gap - a.gap);
    const valuesOf = (gaps: ReturnType<typeof at>, isFirst: boolean): Values => {
      const growth = gaps.flatMap(({ split, gap }) => (first.has(split) ? [gap - first.get(split)!] : []));
      return {
        widestGap: gaps.length > 0 ? Math.max(...gaps.map(({ gap }) => gap)) : null,
        greatestGrowth: growth.length > 0 && !isFirst ? Math.max(...growth) : null,
        ...Object.fromEntries(gaps.map(({ split, gap }) => [`gap:${split}`, gap])),
      };
    };
    const values = valuesOf(now, steps.length <= window);
    const [widest] = now;
    return {
      values,
      reasons: {
        ...(values['widestGap'] === null && { widestGap: NO_SPLIT }),
        ...(values['greatestGrowth'] === null && { greatestGrowth: 'needs a gap early in the run and now' }),
      },
      sentence: widest
        ? `${widest.split} is solved ${percent(widest.success)} of the time, ${counted(widest.gap * 100, 'point')} less than what was seen (${figure(widest.lower * 100)} to ${figure(widest.upper * 100)})`
        : `cannot be said: ${NO_SPLIT}`,
      steps: steps.map(({ trainingStep, figures }, i) => ({
        trainingStep,
        values: valuesOf(at(i), i < window),
        observations: figures.reduce((sum, { n }) => sum + n, 0),
      })),
      evidence: now.map(({ split, n, successes }) => ({
        trainingStep: steps.at(-1)!.trainingStep,
        note: `${split}: ${successes} of ${n} solved`,
      })),
      detail: { splits: now },
    };
  },

  rules: ({ growth }) => [
    {
      id: 'gap-grows',
      level: 'warn',
      all: [{ value: 'greatestGrowth', op: '>', limit: growth }],
      says: `the gap to tasks that were not trained on grew by more than ${figure(growth * 100)} points`,
    },
  ],
});
