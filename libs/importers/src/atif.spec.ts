import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

describe('atif', () => {
  it('has a turn per step of the agent; what a step observed is the state of the next', async () => {
    const { trajectories, skipped } = await readImport('atif', [ownFile('atif/trajectory.json')]);
    expect(skipped).toEqual([]);
    expect(trajectories).toMatchObject([
      {
        id: 'session-1',
        group: 'sum-1',
        trainingStep: 3,
        outcomeReward: 1,
        success: true,
        signals: { agent: 'own-agent', policy: 'own-model', total_prompt_tokens: 20 },
        turns: [
          {
            state: 'user:2 + 2?',
            action: 'add{"a":2,"b":2}',
            signals: { thought: 'Two and two.\nI add.' },
            tokens: { tokenId: [5, 6], rolloutLogprob: [-0.5, -0.25] },
          },
          { state: 'tool:4', action: 'respond:It is 4.' },
        ],
        prompt: 'Be brief.',
      },
    ]);
  });

  it('has no reward and no task where extra says none', async () => {
    const { trajectories } = await readImport('atif', [ownFile('atif/more.jsonl')]);
    expect(trajectories[0].group).toMatch(/^prompt-/);
    expect(trajectories[0]).not.toHaveProperty('outcomeReward');
  });
});
