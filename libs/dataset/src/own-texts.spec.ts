import { expect, it } from 'vitest';
import { withOwnTexts } from './own-texts.js';
import { sliceTrajectories } from './slice.js';
import { trajectoryBatch } from './trajectory-batch.builder.js';

const rollout = (id: string, states: (string | undefined)[], actions: string[]) => ({
  id,
  group: 'g',
  trainingStep: 0,
  turns: states.map((state, i) => ({ ...(state !== undefined && { state }), action: actions[i] })),
});
const rows = [
  rollout('a', ['door', 'hall'], ['go', 'look']),
  rollout('b', ['roof', undefined, 'hall'], ['look', 'jump', 'look']),
  rollout('c', ['cellar'], ['dig']),
];

it('numbers the states and actions of a slice as if there had been no others', () => {
  const slice = sliceTrajectories(trajectoryBatch(rows), 1, 1);
  expect(slice.texts!.states).toHaveLength(4);
  const own = withOwnTexts(slice);
  const alone = trajectoryBatch([rows[1]]);
  expect([own.stateKey, own.actionKey]).toEqual([alone.stateKey, alone.actionKey]);
  expect(own.texts).toEqual(alone.texts);
  expect(own.texts).toEqual({ states: ['roof', 'hall'], actions: ['look', 'jump'] });
});

it('leaves trajectories without texts as they are', () => {
  const bare = { ...trajectoryBatch(rows), texts: null };
  expect(withOwnTexts(bare)).toBe(bare);
});

it('numbers slice after slice, the same one again among them', () => {
  const whole = trajectoryBatch(rows);
  for (const row of [0, 1, 1, 2, 0]) {
    const own = withOwnTexts(sliceTrajectories(whole, row, 1));
    const alone = trajectoryBatch([rows[row]]);
    expect(own).toMatchObject({ stateKey: alone.stateKey, actionKey: alone.actionKey, texts: alone.texts });
  }
});
