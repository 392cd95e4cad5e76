import type { Measured } from './diagnostic.js';
import { leastSquares } from './least-squares.js';
import type { StepMeasure } from './stepwise.js';

/** Training steps that a pace is taken over, and how few of them say nothing of it. */
const WINDOW = 20;
const LEAST = 3;

/**
 * Of every step, how many more it takes until entropy has halved: ln 2 / −slope, by least squares of ln H over the
 * last twenty steps that have one. Infinity where entropy does not fall, null where too little is known.
 *
 * @param steps in ascending order; their value `entropy`, nats per token, is read
 */
export function entropyHalfLives(steps: readonly Measured<StepMeasure>[]): (number | null)[] {
  return steps.map((_, i) => {
    const last = steps
      .slice(Math.max(0, i + 1 - WINDOW), i + 1)
      .filter(({ figures }) => (figures.values['entropy'] ?? 0) > 0);
    if (last.length < LEAST) return null;
    const line = leastSquares(
      last.map(({ trainingStep }) => trainingStep),
      last.map(({ figures }) => Math.log(figures.values['entropy']!)),
    );
    if (!line) return null;
    return line.slope < 0 ? Math.LN2 / -line.slope : Infinity;
  });
}
