import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { measureStep, readRun } from '../run-diagnostic.js';
import { loopStagnation, loopStagnationDiagnostic } from './loop-stagnation.js';

/** `s1/a s1/a …`: state and action of each turn; a trailing `!` marks an invalid action. */
const batchOf = (trajectories: readonly string[]) =>
  trajectoryBatch(
    trajectories.map((turns, i) => ({
      id: `t${i}`,
      group: 'g',
      trainingStep: 0,
      outcomeReward: 0,
      turns: turns.split(' ').map((turn) => {
        const [state, action] = turn.replace('!', '').split('/');
        return { state, action, signals: { isActionValid: !turn.endsWith('!') } };
      }),
    })),
  );

const loops = (turns: string, options = { maxPeriod: 4, stagnationWindow: 5 }) =>
  loopStagnation(batchOf([turns]), options).perTrajectory[0];

it('gives the example of the method: look, look, look, take', () => {
  expect(loops('k/look k/look k/look k2/take')).toMatchObject({
    repeatedStateActionRate: 0.5,
    loopPeriod: 1,
    longestLoop: 3,
    noOpRate: 2 / 3,
  });
});

it('finds a cycle of two rooms, and not where its second round is not whole', () => {
  expect(loops('a/x b/y a/x b/y a/x')).toMatchObject({ loopPeriod: 2, longestLoop: 5, loopTurnShare: 1 });
  expect(loops('a/x b/y a/x c/z')).toMatchObject({ loopPeriod: null, longestLoop: 0, loopTurnShare: 0 });
});

it('does not count a repeat of an action that was refused', () => {
  expect(loops('a/x! b/x b/x')).toMatchObject({ repeatedActionRate: 1 / 3, invalidRate: 1 / 3 });
});

it('is stagnant after five turns without a new state', () => {
  expect(loops('a/1 a/2 a/3 a/4 a/5')).toMatchObject({ longestStagnation: 4, stagnant: false });
  expect(loops('a/1 a/2 a/3 a/4 a/5 a/6')).toMatchObject({ longestStagnation: 5, stagnant: true });
});

it('warns of repeats, and shows the longest cycle first', () => {
  const trajectories = Array.from({ length: 32 }, (_, i) => (i === 7 ? 'a/x a/x a/x a/x' : 'a/x a/x'));
  const outcome = measureStep(loopStagnationDiagnostic, {
    trainingStep: 0,
    trajectories: batchOf(trajectories),
    metrics: {},
    checkpoint: null,
  });
  const run = readRun(
    loopStagnationDiagnostic,
    [0, 1, 2].map((trainingStep) => ({ trainingStep, outcome })),
  );
  expect(run.alerts.map(({ rule }) => rule)).toEqual(['repeating-much', 'repeating']);
  expect(run.evidence[0]).toEqual({
    trainingStep: 0,
    group: 'g',
    trajectory: 't7',
    note: '4 of 4 turns in a cycle of 1',
  });
  expect(run.sentence).toMatch(/^52 % of the actions repeat an earlier one, 100 % of the trajectories run in circles/);
});
