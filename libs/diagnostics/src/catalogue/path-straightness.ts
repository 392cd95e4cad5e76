import { z } from 'zod';
import { distance, EARLIER_CHECKPOINTS, innerProduct, type Checkpoint } from '../checkpoints.js';
import { defineDiagnostic } from '../diagnostic.js';
import { successRate } from '../groups.js';
import { counted, figure, percent } from '../sentences.js';
import { learningPlateau, type ScorePoint } from './learning-plateau.js';

/** Where a checkpoint lies beside those before it. */
export interface PathPlace {
  /** ‖θ_s − θ_(s−k)‖ for k = 1, 2 … as far back as is looked */
  readonly back: readonly number[];
  /** cos(Δ_s, Δ_(s−1)); null where one of them is 0, or there is none */
  readonly cosine: number | null;
  /** ‖θ_s − θ_0‖ */
  readonly fromStart: number;
}

type Tensors = Checkpoint['tensors'];

/**
 * @param earlier ascending, without gaps before `tensors`; none: it is the first
 * @param first of the run
 */
export function pathPlace(tensors: Tensors, earlier: readonly Tensors[], first: Tensors): PathPlace {
  const back = earlier.toReversed().map((before) => distance(tensors, before));
  const [beforeLast, last] = earlier.slice(-2);
  const lengths = last ? back[0] * distance(last, beforeLast) : 0;
  // (θ_s − θ_(s−1)) · (θ_(s−1) − θ_(s−2)), with θ_(s−1) as the origin
  const cosine = lengths > 0 ? 0 - innerProduct(tensors, beforeLast, last) / lengths : null;
  return { back, cosine, fromStart: distance(tensors, first) };
}

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
 * @param places of the checkpoints, ascending; they look back as far as `window`
 * @returns lists of one, two and `window` entries less than there are checkpoints; distanceFromStart of as many
 */
export function pathStraightness(places: readonly PathPlace[], window: number) {
  const stepNorm = places.slice(1).map(({ back }) => back[0]);
  return {
    stepNorm,
    consecutiveCosine: places.slice(2).map(({ cosine }) => cosine),
    straightness: places.slice(window).map(({ back }, s) => {
      const travelled = stepNorm.slice(s, s + window).reduce((total, length) => total + length, 0);
      return travelled > 0 ? back[window - 1] / travelled : null;
    }),
    distanceFromStart: places.map(({ fromStart }) => fromStart),
  };
}

/** What is kept of a checkpoint; null: it is of another kind than the first. */
interface Figures {
  readonly place: PathPlace | null;
  readonly score: number | null;
}

const PLATEAU = { window: 30, alpha: 0.05, minimalGain: 0.02 };

export const pathStraightnessDiagnostic = defineDiagnostic({
  id: 'path-straightness',
  version: 2,
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
  needs: 'checkpoints',
  readsCheckpoints: true,
  params: z.strictObject({}),
  thresholds: z.strictObject({
    window: z.int().min(2).max(EARLIER_CHECKPOINTS).default(20).describe('checkpoints in a row'),
    noiseFactor: z.number().positive().default(1.5).describe('times 1/√window: below it the path is noise'),
    straight: z.number().min(0).max(1).default(0.8).describe('above it the path can be foretold'),
  }),

  measure({ checkpoint, metrics, trajectories }): Figures | null {
    if (!checkpoint) return null;
    const { tensors, earlier, isComparable } = checkpoint;
    const score = metrics['score'] ?? successRate(trajectories);
    if (!isComparable) return { place: null, score };
    const before = earlier.slice(earlier.length > EARLIER_CHECKPOINTS ? 1 : 0).map((one) => one.tensors);
    return { place: pathPlace(tensors, before, earlier[0]?.tensors ?? tensors), score };
  },

  read(steps, { window }) {
    const comparable = steps.filter(({ figures }) => figures.place !== null);
    const path = pathStraightness(comparable.map(({ figures }) => figures.place!), window); // prettier-ignore
    const scored: ScorePoint[] = [];
    const now = path.straightness.at(-1) ?? null;
    const cosine = path.consecutiveCosine.at(-1) ?? null;
    const few = `needs ${window + 1} checkpoints that differ`;
    return {
      values: {
        straightness: now,
        consecutiveCosine: cosine,
        distanceFromStart: path.distanceFromStart.at(-1) ?? null,
      },
      reasons: {
        ...(now === null && { straightness: few }),
        ...(cosine === null && { consecutiveCosine: 'needs 3 checkpoints that differ' }),
        ...(comparable.length === 0 && { distanceFromStart: 'needs a checkpoint whose numbers are all known' }),
      },
      sentence: `${
        now === null
          ? `${counted(comparable.length, 'checkpoint')}: the straightness ${few}`
          : `of the way over the last ${window} checkpoints ${percent(now)} led on; pure noise would be ${percent(1 / Math.sqrt(window))}`
      }${leftOutText(steps.length - comparable.length)}`,
      steps: comparable.map(({ trainingStep, figures: { score } }, i) => {
        if (score !== null) scored.push({ trainingStep, score });
        const plateau = learningPlateau(scored, PLATEAU);
        return {
          trainingStep,
          values: {
            straightness: path.straightness[i - window] ?? null,
            consecutiveCosine: path.consecutiveCosine[i - 2] ?? null,
            stepNorm: path.stepNorm[i - 1] ?? null,
            plateau: plateau ? Number(plateau.plateau) : null,
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

/** For the end of a sentence. */
export function leftOutText(number: number): string {
  if (number === 0) return '';
  return `; ${counted(number, 'checkpoint')} ${number === 1 ? 'is' : 'are'} left out, projected otherwise than the first or with numbers that are none`;
}
