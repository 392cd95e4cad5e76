import type { Measured } from './diagnostic.js';

/**
 * What follows from the figures of some training steps running, once as long as they are the same figures: who reads a
 * run again that has grown pays for the steps that are new. It is forgotten with the figures of its last step.
 *
 * @param derive is given at least one step, and numbers that it depends on beside them
 */
export function oncePerWindow<Figures extends object, Value>(
  derive: (steps: readonly Measured<Figures>[], ...options: number[]) => Value,
): typeof derive {
  const known = new WeakMap<Figures, { steps: readonly Measured<Figures>[]; options: readonly number[]; value: Value }>(); // prettier-ignore
  return (steps, ...options) => {
    const last = steps.at(-1)!.figures;
    const found = known.get(last);
    if (found && areSame(found.steps, steps) && areEqual(found.options, options)) return found.value;
    const value = derive(steps, ...options);
    known.set(last, { steps, options, value });
    return value;
  };
}

const areSame = (a: readonly Measured<object>[], b: readonly Measured<object>[]) =>
  a.length === b.length &&
  a.every(({ trainingStep, figures }, i) => trainingStep === b[i].trainingStep && figures === b[i].figures);

const areEqual = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((option, i) => option === b[i]);
