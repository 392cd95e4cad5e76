import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { oncePerBatch } from './once-per-batch.js';

it('derives a fact once of each batch', () => {
  const derived: object[] = [];
  const factOf = oncePerBatch((trajectories) => {
    derived.push(trajectories);
    return { count: trajectories.ids.length };
  });
  const batch = trajectoryBatch([]);
  const another = { ...batch };
  expect(factOf(batch)).toBe(factOf(batch));
  expect(factOf(another)).not.toBe(factOf(batch));
  expect(derived).toEqual([batch, another]);
});
