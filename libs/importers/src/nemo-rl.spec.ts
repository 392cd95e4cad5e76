import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

const OWN = ownFile('nemo-rl/train_data_step7.jsonl');

describe('nemo-rl', () => {
  it('cuts a sample into turns by its loss mask, without its padding', async () => {
    const { trajectories, skipped } = await readImport('nemo-rl', [OWN]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      trainingStep: 7,
      outcomeReward: 1,
      success: true,
      signals: { tokenCount: 4 },
      turns: [
        {
          state: 'Be brief.\n2 + 2?',
          action: '<tool>add</tool>',
          tokens: {
            tokenId: [13, 14],
            logprob: [-0.25, -0.25],
            rolloutLogprob: [-0.5, -0.5],
            loggedAdvantage: [0.5, 0.5],
          },
        },
        { state: '4', action: 'It is 4.', tokens: { tokenId: [16, 17] } },
      ],
    });
    expect(trajectories[2].turns).toMatchObject([{ action: '3 + 3? It is 6.', tokens: { tokenId: [12, 13] } }]);
  });

  it('groups by the prompt, or by blocks of lines', async () => {
    const { trajectories } = await readImport('nemo-rl', [OWN]);
    expect(trajectories[0].group).toMatch(/^prompt-[0-9a-f]{12}$/);
    expect(trajectories[1].group).toBe(trajectories[0].group);
    expect(trajectories[2].group).not.toBe(trajectories[0].group);
    const blocks = await readImport('nemo-rl', [OWN], { generations: '2', step: '9' });
    expect(blocks.trajectories.map(({ group, trainingStep }) => `${trainingStep} ${group}`)).toEqual([
      '9 block-0',
      '9 block-0',
      '9 block-1',
    ]);
  });

  it('refuses a setting that cannot be meant', async () => {
    await expect(readImport('nemo-rl', [OWN], { generations: 'many' })).rejects.toMatchObject({
      code: 'usage.wrong',
      message: expect.stringContaining('setting generations of nemo-rl'),
    });
  });
});
