import { expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

it('agent-lightning: requests are turns as they come, rewards are of the turn before them, the last is the outcome', async () => {
  const { events, skipped } = await readImport('agent-lightning', [ownFile('agent-lightning/events.jsonl')]);
  expect(
    events.map(({ type, trajectory, turn, reward, outcomeReward }) => [
      type,
      trajectory,
      turn ?? null,
      reward ?? outcomeReward ?? null,
    ]),
  ).toEqual([
    ['turn.recorded', 'r1-a1', 0, 0.25],
    ['turn.recorded', 'r1-a1', 1, 1],
    ['trajectory.ended', 'r1-a1', null, 1],
    ['turn.recorded', 'r2-a1', 0, 0],
    ['trajectory.ended', 'r2-a1', null, 0],
    ['trajectory.ended', 'r3-a1', null, null],
  ]);
  expect(events[0]).toMatchObject({
    at: '2023-11-14T22:13:20.000Z',
    trainingStep: 4,
    state: 'user:2 + 2?',
    action: 'add{"a":2,"b":2}',
    tokens: { rolloutLogprob: [-0.5, -0.25] },
  });
  expect(events[1]).toMatchObject({ state: 'tool:4', action: 'respond:4' });
  expect(events[0].group).toBe(events[3].group);
  expect(skipped.map(({ why }) => why)).toEqual([
    'events of type heartbeat are no turn and no reward',
    'a model_request without an answer',
  ]);
});
