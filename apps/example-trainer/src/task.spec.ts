import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { taskDeck, trainingTask } from './task.js';

it('deals every task about as often, and none twice in a step', () => {
  const random = seededRandom('deck');
  const tasks = Array.from({ length: 8 }, (_, number) => trainingTask(random, number));
  const deal = taskDeck(random, tasks);
  const steps = Array.from({ length: 80 }, () => deal(5));
  for (const step of steps) expect(new Set(step).size).toBe(5);
  const times = tasks.map((task) => steps.flat().filter((dealt) => dealt === task).length);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(49);
  expect(Math.max(...times)).toBeLessThanOrEqual(51);
});
