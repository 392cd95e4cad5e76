import { expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

it('rllm: every agent of an episode is a trajectory, in a group of its own', async () => {
  const { trajectories, skipped } = await readImport('rllm', [ownFile('rllm/episode_hash0a1b2c3d_idsum-1-0.json')]);
  expect(skipped).toEqual([]);
  expect(trajectories).toMatchObject([
    {
      id: 'step-5-sum-1:0-solver-u1',
      group: 'sum-1:solver',
      trainingStep: 5,
      outcomeReward: 1,
      success: true,
      signals: { agent: 'solver', ended: 'env_done', solver_acc: 1 },
      turns: [
        { state: 'user:2 + 2?', action: 'respond:add(2, 2)', reward: 0, signals: { thought: 'I add.' } },
        {
          state: 'user:4',
          action: 'respond:It is 4.',
          reward: 1,
          signals: { loggedAdvantage: 0.5, mcReturn: 1 },
          tokens: { tokenId: [5, 6], rolloutLogprob: [-0.5, -0.25] },
        },
      ],
    },
    {
      group: 'sum-1:judge',
      outcomeReward: 1,
      turns: [{ state: '{"answer":4}', action: '{"ok":true}' }],
    },
  ]);
});
