import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { Devices } from '#lib/tensor';
import { describe, expect, it } from 'vitest';
import { Learner } from './learner.js';
import { soughtState } from './nearest-turns.js';

const learner = new Learner('wasm');
const rollout = (id: string, ...states: readonly (string | number[])[]) => ({
  id,
  group: 'g',
  trainingStep: 0,
  turns: states.map((state) =>
    typeof state === 'string' ? { state, action: 'x' } : { state: 's', action: 'x', signals: { embedding: state } },
  ),
});
const near = async (trajectories: TrajectoryBatch, row: number, rows: number[][], k: number) => {
  const { value, device, warnings } = await learner.nearest(trajectories, soughtState(trajectories, row)!, rows.map((set) => Int32Array.from(set)), k); // prettier-ignore
  expect([device, warnings]).toEqual(['wasm', []]);
  return value.map(({ turns, ...counts }) => ({
    ...counts,
    turns: turns.map(({ trajectory, turn, similarity }) => [trajectory, turn, Number(similarity.toFixed(5))]),
  }));
};

describe('the turns nearest to a state', () => {
  const kitchens = trajectoryBatch([
    rollout('own', 'you see a red door in the kitchen'),
    rollout('same', 'nothing', 'you see a red door in the kitchen', 'You see a RED door in the kitchen.'),
    rollout('like', 'you see a blue door in the kitchen', 'an apple'),
    rollout('far', 'an apple', 'a dozen eggs'),
    rollout('mute', '...'),
  ]);

  it('are found by their texts, of each trajectory the nearest, most similar first', async () => {
    const [found] = await near(kitchens, 0, [[1, 2, 3, 4]], 3);
    expect(found.turns.map(([trajectory, turn]) => [trajectory, turn])).toEqual([['same', 1], ['like', 0], ['far', expect.any(Number)]]); // prettier-ignore
    expect(found.turns[0][2]).toBe(1);
    expect(found.turns[1][2]).toBeGreaterThan(0.5);
    expect(Math.abs(found.turns[2][2] as number)).toBeLessThan(0.4);
    expect(found, 'a text without a word has nothing to compare').toMatchObject({ compared: 3, leftOut: 1 });
  });

  it('are at most k of each set of trajectories', async () => {
    const [some, others, none] = await near(kitchens, 0, [[1, 2], [3], []], 1);
    expect(some.turns).toEqual([['same', 1, 1]]);
    expect(others.turns.map(([trajectory]) => trajectory)).toEqual(['far']);
    expect(none).toEqual({ turns: [], compared: 0, leftOut: 0 });
  });

  it('weigh words as the training step of the turn does, wherever they are sought', async () => {
    const elsewhere = trajectoryBatch([rollout('a', 'you see a red door'), rollout('b', 'kitchen')]);
    const sought = soughtState(kitchens, 0)!;
    const { value } = await learner.nearest(elsewhere, sought, [Int32Array.of(0, 1)], 2);
    const alone = await learner.nearest(elsewhere, { ...soughtState(elsewhere, 0)!, text: 'you see a red door in the kitchen' } as never, [Int32Array.of(0, 1)], 2); // prettier-ignore
    expect(value[0].turns[0].similarity).not.toBe(alone.value[0].turns[0].similarity);
  });

  it('are found by logged embeddings of the same width, where the turn has one', async () => {
    const at = (degrees: number) => [3 * Math.cos((degrees * Math.PI) / 180), 3 * Math.sin((degrees * Math.PI) / 180)];
    const embedded = trajectoryBatch([
      rollout('own', at(0)),
      rollout('a', at(90), at(60)),
      rollout('b', at(30)),
      rollout('wide', [1, 0, 0]),
      rollout('texts', 's'),
    ]);
    const [found] = await near(embedded, 0, [[1, 2, 3, 4]], 9);
    expect(found).toEqual({ turns: [['b', 0, 0.86603], ['a', 1, 0.5]], compared: 2, leftOut: 2 }); // prettier-ignore
  });

  it('are as many as there are, though one trajectory has all of the nearest', async () => {
    const states = Array.from({ length: 40 }, (_, i) => `the red door of room ${i}`);
    const crowd = trajectoryBatch([rollout('own', 'the red door of'), rollout('many', ...states), rollout('far', 'eggs')]); // prettier-ignore
    const [found] = await near(crowd, 0, [[1, 2]], 2);
    expect(found.turns.map(([trajectory]) => trajectory)).toEqual(['many', 'far']);
  });

  it('are the first of those that are equally near', async () => {
    const equal = trajectoryBatch([rollout('own', 's'), rollout('a', 'x', 's', 's'), rollout('b', 's'), rollout('c', 's')]); // prettier-ignore
    const [found] = await near(equal, 0, [[1, 2, 3]], 2);
    expect(found.turns).toEqual([['a', 1, 1], ['b', 0, 1]]); // prettier-ignore
  });

  it('leave no tensor behind', async () => {
    const { tf } = await new Devices('wasm').current();
    const before = tf.memory().numTensors;
    await near(kitchens, 0, [[1, 2], [3]], 2);
    expect(tf.memory().numTensors).toBe(before);
  });
});

it('a state that was not said, or has no word, has nothing to be sought by', () => {
  const trajectories = trajectoryBatch([
    { id: 'a', group: 'g', trainingStep: 0, turns: [{ action: 'x' }, { state: '...', action: 'x' }] },
  ]);
  expect([0, 1].map((row) => soughtState(trajectories, row))).toEqual([null, null]);
});
