import { trajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';
import { expect, it } from 'vitest';
import { measureStep } from '../run-diagnostic.js';
import { rollout, times, TOY } from './behaviour.fixture.js';
import { DIAGNOSTICS } from './index.js';

/** Rollouts of any length, some of which branch off the one before. */
function anyRollouts(seed: string, count: number) {
  const random = seededRandom(seed);
  return Array.from({ length: count }, (_, i) => {
    const turns = Array.from({ length: 1 + random.integer(12) }, () => ({
      state: `s${random.integer(20)}`,
      action: `a${random.integer(5)}`,
      reward: random.next(),
      signals: { successEstimate: random.next(), processReward: random.next(), isActionValid: random.next() < 0.9 },
    }));
    const record = rollout(`t${i}`, `g${i >> 2}`, random.integer(2), turns, { rewardScore: random.normal() });
    return i % 4 > 0 && random.next() < 0.5 ? { ...record, parent: { trajectory: `t${i - 1}`, turn: 1 } } : record;
  });
}

it.each(DIAGNOSTICS)('$id finds in a step the same whatever it measured before', (diagnostic) => {
  const found = (records: Parameters<typeof trajectoryBatch>[0]) =>
    measureStep(diagnostic, {
      trainingStep: 0,
      trajectories: trajectoryBatch(records),
      metrics: { entropy: 1 },
      checkpoint: null,
    });
  const steps = [TOY, anyRollouts('tree', 40), times(8, TOY), anyRollouts('another tree', 12)];
  const first = steps.map(found);
  expect(steps.map(found)).toEqual(first);
  expect(steps.toReversed().map(found).toReversed()).toEqual(first);
});
