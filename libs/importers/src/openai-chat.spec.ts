import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

const OWN = ownFile('openai-chat/conversations.jsonl');

describe('openai-chat', () => {
  it('takes group, rollout, rewards, step and labels from the fields beside the messages', async () => {
    const { trajectories, events } = await readImport('openai-chat', [OWN]);
    expect(trajectories[0]).toMatchObject({
      id: 'step-2-sum-0',
      group: 'sum',
      trainingStep: 2,
      outcomeReward: 1,
      success: true,
      turns: [
        { state: 'user:2 + 2?', action: 'add{"a":2,"b":2}', reward: 0, signals: { processReward: 0.25 } },
        { state: 'tool:4', reward: 1, signals: { processReward: 0.75 }, tokens: { rolloutLogprob: [-0.5, -0.25] } },
      ],
      prompt: 'Be brief.',
      source: { tools: [] },
    });
    expect(trajectories[1]).toMatchObject({ id: 'step-2-sum-1', turns: [{ state: 'user:2 + 2?' }] });
    expect(events).toMatchObject([
      {
        trajectory: 'step-2-sum-0',
        annotator: 'human',
        turns: [
          { turn: 0, signals: { humanLabel: 0 } },
          { turn: 1, signals: { humanLabel: 1 } },
        ],
      },
    ]);
  });

  it('groups by the first question where nothing else says it, and keeps equal conversations apart', async () => {
    const { trajectories, skipped } = await readImport('openai-chat', [OWN]);
    expect(trajectories).toHaveLength(4);
    expect(trajectories[3].group).toBe(trajectories[2].group);
    expect(trajectories[3].id).toBe(`${trajectories[2].id}-2`);
    expect(trajectories[2]).not.toHaveProperty('outcomeReward');
    expect(skipped).toEqual([{ where: ':5', why: 'its reward is "good", no number' }]);
  });

  it('takes the fields that settings name', async () => {
    const { trajectories } = await readImport('openai-chat', [OWN], { group: 'trial', reward: 'step' });
    expect(trajectories.slice(0, 2).map(({ group, outcomeReward }) => [group, outcomeReward])).toEqual([
      ['0', 2],
      ['1', 2],
    ]);
  });
});
