import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { rollout, visits } from './estimator.fixture.js';
import { similarStates } from './state-groups.js';

it('opens a cluster per group, also for equal texts', () => {
  const trajectories = trajectoryBatch([
    rollout('g', 0, visits(['take mug 1', 0], ['take mug 2', 0], ['look', 0])),
    rollout('h', 0, visits(['take mug 2', 0])),
    rollout('g', 0, visits(['look', 0], ['take mug 3', 0])),
  ]);
  const { labels, count } = similarStates(trajectories, trajectories.texts!.states, 0.8);
  expect([...labels]).toEqual([0, 0, 1, 2, 1, 0]);
  expect(count).toBe(3);
});
