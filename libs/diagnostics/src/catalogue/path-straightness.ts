import { z } from 'zod';
import { defineDiagnostic } from '../diagnostic.js';
import { mean, successOf } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { learningPlateau } from './learning-plateau.js';

/**
 * Whether the parameters still go somewhere, by their sketches θ_s; Δ_s = θ_s − θ_(s−1).
 *
 *     stepNorm           ‖Δ_s‖
 *     consecutiveCosine  cos(Δ_s, Δ_(s−1)); null where one of them is 0
 *     straightness       ‖ΣΔ‖ / Σ‖Δ‖ over every `window` steps in a row; null where nothing moves.
 *                        Straight: 1; pure noise: about 1/√window
 *     distanceFromStart  ‖θ_s − θ_0‖
 *
 * Source: ours, after the outer step of arXiv:2603.06009 (of which only the abstract was read).
 *
 * @param sketches [checkpoints][dimensions] in ascending order of the training step
 * @returns lists of one, two and `window` entries less than there are checkpoints; distanceFromStart of as many
 */
export function pathStraightness(sketches: readonly (readonly number[])[], window: number) {
  const deltas = sketches.slice(1).map((sketch, s) => minus(sketch, sketches[s]));
  const stepNorm = deltas.map(norm);
  return {
    stepNorm,
    consecutiveCosine: deltas.slice(1).map((delta, s) => {
      const length = stepNorm[s] * stepNorm[s + 1];
      return length > 0 ? dot(delta, deltas[s]) / length : null;
    }),
    straightness: stepNorm.slice(window - 1).map((_, s) => {
      const travelled = stepNorm.slice(s, s + window).reduce((total, length) => total + length, 0);
      return travelled > 0 ? norm(minus(sketches[s + window], sketches[s])) / travelled : null;
    }),
    distanceFromStart: sketches.map((sketch) => norm(minus(sketch, sketches[0]))),
  };
}

const minus = (a: readonly number[], b: readonly number[]) => a.map((value, i) => value - b[i]);
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const norm = (a: readonly number[]) => Math.sqrt(dot(a, a));

interface Figures {
  /** the tensors one after the other, in the order of their names */
  readonly sketch: readonly number[];
  readonly score: number | null;
}

const PLATEAU = { window: 30, alpha: 0.05, minimalGain: 0.02 };

export const pathStraightnessDiagnostic = defineDiagnostic({
  id: 'path-straightness',
  version: 1,
  title: 'Straightness of the path',
  question: 'Is the policy still going somewhere?',
  remedy: 'Where it thrashes on a plateau: halve the step or double the samples per update.',
  headline: 'straightness',
  level: 'run',
  status: 'reconstructed',
  source: 'after arXiv:2603.06009 (abstract only); the definition and the limits are ours',
  requires: [],
  accepts: ['trajectory.outcomeReward', 'trajectory.success'],
  metrics: ['score'],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    window: z.int().min(2).default(20).describe('checkpoints in a row'),
    noiseFactor: z.number().positive().default(1.5).describe('times 1/√window: below it the path is noise'),
    straight: z.number().min(0).max(1).default(0.8).describe('above it the path can be foretold'),
  }),

  measure({ checkpoint, metrics, trajectories }): Figures | null {
    if (!checkpoint) return null;
    const names = Object.keys(checkpoint.tensors).sort();
    const success = [...successOf(trajectories)].filter((value) => !Number.isNaN(value));
    const sketch = names.flatMap((name) => checkpoint.tensors[name]);
    return { sketch, score: metrics['score'] ?? mean(success) };
  },

  read(steps, { window }) {
    const comparable = steps.filter(({ figures }) => figures.sketch.length === steps[0].figures.sketch.length);
    const path = pathStraightness(comparable.map(({ figures }) => figures.sketch), window); // prettier-ignore
    const points = comparable.flatMap(({ trainingStep, figures: { score } }) => (score === null ? [] : [{ trainingStep, score }])); // prettier-ignore
    const now = path.straightness.at(-1) ?? null;
    const cosine = path.consecutiveCosine.at(-1) ?? null;
    const few = `needs ${window + 1} checkpoints that differ`;
    return {
      values: { straightness: now, consecutiveCosine: cosine, distanceFromStart: path.distanceFromStart.at(-1)! },
      reasons: {
        ...(now === null && { straightness: few }),
        ...(cosine === null && { consecutiveCosine: 'needs 3 checkpoints that differ' }),
      },
      sentence:
        now === null
          ? `${comparable.length} checkpoints: the straightness ${few}`
          : `of the way over the last ${window} checkpoints ${percent(now)} led on; pure noise would be ${percent(1 / Math.sqrt(window))}`,
      steps: comparable.map(({ trainingStep }, i) => {
        const found = learningPlateau(points.filter((point) => point.trainingStep <= trainingStep), PLATEAU); // prettier-ignore
        return {
          trainingStep,
          values: {
            straightness: path.straightness[i - window] ?? null,
            consecutiveCosine: path.consecutiveCosine[i - 2] ?? null,
            stepNorm: path.stepNorm[i - 1] ?? null,
            plateau: found ? Number(found.plateau) : null,
          },
          observations: i + 1,
        };
      }),
      evidence: [],
    };
  },

  rules: ({ window, noiseFactor, straight }) => [
    {
      id: 'thrashing',
      level: 'warn',
      all: [
        { value: 'straightness', op: '<', limit: noiseFactor / Math.sqrt(window) },
        { value: 'plateau', op: '>=', limit: 1 },
      ],
      minimum: window,
      says: `the parameters move like noise and the score stands still`,
    },
    {
      id: 'predictable',
      level: 'info',
      all: [{ value: 'straightness', op: '>', limit: straight }],
      minimum: window,
      says: `the parameters go straight on (above ${figure(straight)}): relex-extrapolation may foretell them`,
    },
  ],
});
