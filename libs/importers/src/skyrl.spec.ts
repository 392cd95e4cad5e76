import { expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

it('skyrl: adds up a score per token, and groups by prompt', async () => {
  const { trajectories } = await readImport('skyrl', [ownFile('skyrl/own_math.jsonl')], { step: '4' });
  expect(trajectories).toMatchObject([
    { trainingStep: 4, outcomeReward: 1, success: true, signals: { ended: 'stop' } },
    { outcomeReward: 0, success: false, signals: { ended: 'length', truncated: true } },
  ]);
  expect(trajectories[0].group).toBe(trajectories[1].group);
});
