import { expect, it } from 'vitest';
import { movesOf, tasksOf, type Share } from './rows.js';

const task = (name: string, learnability: number) => ({
  task: name,
  attempts: 8,
  successes: 4,
  posteriorMean: 0.5,
  learnability,
  mixedProbability: 0.9,
  needsHint: false,
});
const bands = [
  { band: 'HARD' as const, tasks: [task('b', 0.1), task('a', 0.1)] },
  { band: 'FRONTIER' as const, tasks: [task('c', 0.25)] },
];

it('lists tasks of all bands, the most learnable first, or those of one', () => {
  expect(tasksOf({ bands }, undefined).map(({ task, band }) => [task, band])).toEqual([
    ['c', 'FRONTIER'],
    ['a', 'HARD'],
    ['b', 'HARD'],
  ]);
  expect(tasksOf({ bands }, 'FRONTIER').map(({ task }) => task)).toEqual(['c']);
  expect(tasksOf({ bands }, 'SOLVED')).toEqual([]);
});

it('leaves out of the budget what stays as it is, and puts the largest change first', () => {
  const share = (name: string, lastRollouts: number, rollouts: number): Share => ({
    task: name,
    attempts: 1,
    successes: 0,
    predicted: 0.5,
    mixed: 0.5,
    lastRollouts,
    rollouts,
  });
  const shares = [share('same', 8, 8), share('more', 0, 3), share('none', 8, 0)];
  expect(movesOf({ budget: { rollouts: 11, shares, starts: [] } }).map(({ task }) => task)).toEqual(['none', 'more']);
  expect(movesOf({ budget: null })).toEqual([]);
});
