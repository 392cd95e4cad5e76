import type { z } from 'zod';
import {
  MAX_EVIDENCE,
  type Diagnostic,
  type Evidence,
  type Measured,
  type Reading,
  type Values,
} from './diagnostic.js';

/** What one training step says by itself. */
export interface StepMeasure {
  readonly values: Values;
  /** why a value is null */
  readonly reasons?: Readonly<Record<string, string>>;
  /** groups, trajectories, turns or tokens that the values rest on */
  readonly observations: number;
  /** where it is to be seen, the strongest first; a few are enough */
  readonly evidence?: readonly (Omit<Evidence, 'trainingStep'> & { readonly weight: number })[];
}

type Stepwise<Params extends z.ZodObject, Thresholds extends z.ZodObject> = Omit<
  Diagnostic<Params, Thresholds, StepMeasure>,
  'read'
> & {
  /** what the run's values say, in one sentence */
  readonly sentence: (values: Values, thresholds: z.infer<Thresholds>) => string;
  /** [steps] values that a step has only beside others, such as a trend; the run has those of its last step */
  readonly inContext?: (steps: readonly Measured<StepMeasure>[], thresholds: z.infer<Thresholds>) => readonly Values[];
};

/**
 * A diagnostic whose training steps speak for themselves. The run's values are means over its steps, weighted by their
 * observations; a value that a step does not have is not counted there.
 */
export function stepwise<const Params extends z.ZodObject, const Thresholds extends z.ZodObject>({
  sentence,
  inContext = () => [],
  ...rest
}: Stepwise<Params, Thresholds>): Diagnostic<Params, Thresholds, StepMeasure> {
  return {
    ...rest,
    read: (steps, thresholds) =>
      readSteps(steps, inContext(steps, thresholds), (values) => sentence(values, thresholds)),
  };
}

function readSteps(
  steps: readonly Measured<StepMeasure>[],
  inContext: readonly Values[],
  sentence: (values: Values) => string,
): Reading {
  const values = { ...meansOf(steps.map(({ figures }) => figures)), ...inContext.at(-1) };
  const last = steps.at(-1)!.figures;
  const reasons = Object.entries(values)
    .filter(([, value]) => value === null)
    .map(([name]) => [name, last.reasons?.[name] ?? 'undefined on every training step'] as const);
  return {
    values,
    reasons: Object.fromEntries(reasons),
    sentence: sentence(values),
    steps: steps.map(({ trainingStep, figures }, i) => ({
      trainingStep,
      values: { ...figures.values, ...inContext[i] },
      observations: figures.observations,
    })),
    evidence: steps
      .flatMap(({ trainingStep, figures }) => (figures.evidence ?? []).map((found) => ({ trainingStep, ...found })))
      .sort((a, b) => b.weight - a.weight)
      .slice(0, MAX_EVIDENCE)
      .map(({ weight: _weight, ...found }) => found),
  };
}

function meansOf(figures: readonly StepMeasure[]): Values {
  const sums = new Map<string, { sum: number; weight: number }>();
  for (const { values, observations } of figures) {
    for (const [name, value] of Object.entries(values)) {
      const known = sums.get(name) ?? { sum: 0, weight: 0 };
      if (value !== null) {
        known.sum += value * observations;
        known.weight += observations;
      }
      sums.set(name, known);
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, weight }]) => [name, weight > 0 ? sum / weight : null]));
}
