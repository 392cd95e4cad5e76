import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

describe('slime', () => {
  it('cuts the response out of the tokens and leaves out what was not trained', async () => {
    const { trajectories, skipped } = await readImport('slime', [ownFile('slime/samples.jsonl')]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      id: 'step-8-0-0',
      group: '0',
      trainingStep: 8,
      outcomeReward: 1,
      turns: [
        {
          state: 'user:2 + 2?',
          action: 'It is 4.',
          tokens: { tokenId: [5, 7, 8], rolloutLogprob: [-0.5, -0.25, -0.125] },
        },
      ],
    });
    expect(trajectories[1]).toMatchObject({ outcomeReward: 0, signals: { score: 0, format: 1, truncated: true } });
    expect(trajectories[2]).toMatchObject({ outcomeReward: null, turns: [{ tokens: { tokenId: [5, 6, 7, 8] } }] });
  });

  it('takes the reward that a setting names, and a document of samples', async () => {
    const { trajectories } = await readImport('slime', [ownFile('slime/samples.jsonl')], { reward: 'format' });
    expect(trajectories[1].outcomeReward).toBe(1);
    const document = await readImport('slime', [ownFile('slime/rollout_8.json')]);
    expect(document.trajectories).toMatchObject([{ id: 'step-8-0-0' }]);
  });
});
