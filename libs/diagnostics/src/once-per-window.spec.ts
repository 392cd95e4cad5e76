import { expect, it } from 'vitest';
import { oncePerWindow } from './once-per-window.js';

const derived: number[] = [];
const sumOf = oncePerWindow((steps: readonly { trainingStep: number; figures: { x: number } }[], factor: number) => {
  derived.push(steps.at(-1)!.trainingStep);
  return steps.reduce((sum, { trainingStep, figures }) => sum + trainingStep * figures.x * factor, 0);
});

it('derives what follows from a window once, and anew where anything of it is another', () => {
  const [one, two, three] = [{ x: 1 }, { x: 2 }, { x: 3 }];
  const steps = (...figures: { x: number }[]) => figures.map((each, i) => ({ trainingStep: i + 1, figures: each }));
  const asked = [
    [steps(one, two), 1, 5],
    [steps(one, two), 1, 5],
    [steps(one, two), 2, 10],
    [steps(three, two), 2, 14],
    [steps(two), 2, 4],
    [steps(two, two), 2, 12],
    [steps(two, three), 2, 16],
    [steps(two, two), 2, 12],
    [[{ trainingStep: 1, figures: two }, { trainingStep: 3, figures: two }], 2, 16], // prettier-ignore
  ] as const;
  for (const [window, factor, sum] of asked) expect(sumOf(window, factor)).toBe(sum);
  expect(derived).toEqual([2, 2, 2, 1, 2, 2, 3]);
});
