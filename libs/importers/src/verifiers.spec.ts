import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

describe('verifiers', () => {
  it('reads calls that are JSON text, and the tokens of steps', async () => {
    const { trajectories, skipped } = await readImport('verifiers', [ownFile('verifiers/results.jsonl')]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      group: '0',
      outcomeReward: 1,
      success: true,
      signals: { correct: 1, turns: 3, toolCalls: 1, ended: 'answered', truncated: false },
      turns: [
        {
          state: 'user:2 + 2?',
          action: 'add{"a":2,"b":2}',
          signals: { loggedAdvantage: 0.5 },
          tokens: { tokenId: [5, 6], rolloutLogprob: [-0.5, -0.25] },
        },
        { state: 'tool:4', action: 'respond:4', reward: 1 },
      ],
      prompt: 'Be brief.',
    });
    expect(trajectories[2].id).toBe(`${trajectories[1].id}-2`);
    expect(trajectories[3]).toMatchObject({
      group: '1',
      signals: { error: 'timeout' },
    });
    // what the prompt holds of an assistant is an example
    expect(trajectories[3].turns).toEqual([{ state: 'user:2 + 2?', action: 'respond:6' }]);
  });

  it('reads traces of version 1', async () => {
    const { trajectories } = await readImport('verifiers', [ownFile('verifiers/traces.jsonl')]);
    expect(trajectories).toMatchObject([{ id: 'trace-e1', group: 'g1', trainingStep: 0, outcomeReward: 1 }]);
  });

  it('says what a line lacks', async () => {
    const { skipped } = await readImport('verifiers', [ownFile('verl/12.jsonl')]);
    expect(skipped[0]).toEqual({ where: ':1', why: expect.stringContaining('example_id: expected') });
  });
});
