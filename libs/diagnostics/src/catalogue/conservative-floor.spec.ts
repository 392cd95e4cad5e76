import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { newcombe, wilson } from '../intervals.js';
import { rollout } from './behaviour.fixture.js';
import { conservativeFloor, conservativeFloorDiagnostic, returnsByStep } from './conservative-floor.js';

it('has the intervals of the books', () => {
  // Newcombe (1998), 56 of 70 against 48 of 80 at 95 %: .0524 to .3339; Wilson, 81 of 263: .2553 to .3662
  expect(wilson(81, 263, 1.959964).map((value) => value.toFixed(4))).toEqual(['0.2553', '0.3662']);
  const difference = newcombe({ successes: 56, n: 70 }, { successes: 48, n: 80 }, 1.959964);
  expect(difference.map((value) => value.toFixed(4))).toEqual(['0.0524', '0.3339']);
});

const step = (n: number, outcome: (i: number) => number) =>
  Array.from({ length: n }, (_, i) => rollout(`${i}`, `g${i}`, outcome(i)));

it('takes the spread of real returns, and no proof from few episodes', () => {
  const returns = (values: readonly number[]) =>
    returnsByStep(
      trajectoryBatch(step(values.length, (i) => values[i]).map((record) => ({ ...record, trainingStep: 3 }))),
    );
  const options = { alpha: 0.5, baselineReturn: 1, z: 1.6448536269514722, minimumEpisodes: 5 };
  // mean 2, sample std 1, five returns: 2 ± 1.64485 / √5 · 1.58114 / 1 … 2 ± 1.1631
  const [found] = conservativeFloor(returns([0, 1, 2, 3, 4]), options).steps;
  expect(found).toMatchObject({ trainingStep: 3, mean: 2, interval: 'normal', status: 'certified', episodesBelow: 1, cumulativeMargin: 7.5 }); // prettier-ignore
  expect(found.lower).toBeCloseTo(2 - (1.6448536269514722 * Math.sqrt(2.5)) / Math.sqrt(5), 12);
  expect(conservativeFloor(returns([0, 0, 0, 0]), options).steps[0].status).toBe('unproven');
  expect(conservativeFloor(returns([0.1, 0.2, 0.1, 0.2, 0.1]), options).violatedSteps).toEqual([3]);
});

it('keeps how often each return came, unless there are too many of them', () => {
  const records = (outcomes: readonly number[], trainingStep: number) =>
    outcomes.map((outcome, i) => ({ ...rollout(`${trainingStep}.${i}`, 'g', outcome), trainingStep }));
  const counts = (...outcomes: readonly number[]) =>
    returnsByStep(trajectoryBatch(records(outcomes, 0))).map((step) => step.counts);
  expect(counts(2, 0, 1, NaN, -0, 2)).toEqual([[[0, 2], [1, 1], [2, 2]]]); // prettier-ignore
  const distinct = Array.from({ length: 65 }, (_, i) => i);
  expect(counts(...distinct.slice(1))[0]).toHaveLength(64);
  expect(counts(...distinct)).toEqual([null]);
  const steps = returnsByStep(trajectoryBatch([...records([1, 0.5], 7), ...records([0, 1], 3), ...records([NaN], 5)])); // prettier-ignore
  expect(steps.map(({ trainingStep, n, isBinary }) => [trainingStep, n, isBinary])).toEqual([[3, 2, true], [7, 2, false]]); // prettier-ignore
});

it('is critical at once when a step is surely below the floor', () => {
  const good = step(40, (i) => i % 2);
  const bad = step(40, (i) => Number(i < 4));
  const run = diagnoseRecords(conservativeFloorDiagnostic, [good, good, good, good, good, bad]);
  expect(run.alerts).toMatchObject([{ rule: 'below-floor', level: 'critical', openedAt: 5 }]);
  expect(run.sentence).toBe('the floor is 0.45, from the baseline of the first training steps: 1 of 6 training steps is surely below it; the last one is at 0.1'); // prettier-ignore
  const held = diagnoseRecords(conservativeFloorDiagnostic, [good, step(40, (i) => Number(i < 18))]);
  expect(held.alerts).toEqual([]);
  expect(diagnoseRecords(conservativeFloorDiagnostic, [good], { thresholds: { baselineReturn: 2 } }).alerts).toHaveLength(1); // prettier-ignore
});
