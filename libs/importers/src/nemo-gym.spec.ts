import { describe, expect, it } from 'vitest';
import { countsOf, hasShared, ownFile, readImport, sharedFile } from '../../../test/support/read-import.js';

const OWN = ownFile('nemo-gym/rollouts.jsonl');

describe('nemo-gym', () => {
  it('has a turn for all that the model says in one go', async () => {
    const { trajectories, skipped } = await readImport('nemo-gym', [OWN]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      id: expect.stringMatching(/^0-1-[0-9a-f]{8}$/),
      group: '0',
      outcomeReward: 1,
      success: true,
      signals: { steps: 2, resolved: true, policy: 'own-model', dataset: 'own_agent', toolCalls: 2 },
      turns: [
        { state: 'user:What is 2 + 2?', action: 'add{"a":2,"b":2}\nlog{}', signals: { thought: 'I add.' } },
        {
          state: 'tool:4\ntool:ok',
          action: 'respond:4',
          tokens: { logprob: [-0.5, -0.25], tokenId: [7, 8] },
        },
      ],
    });
    expect(trajectories[1].turns).toEqual([
      { state: 'user:What is 2 + 2?', action: 'respond:5' },
      { state: 'user:Sure?', action: 'respond:No, 4' },
    ]);
  });

  it('takes no graded reward for a success, and the request for the group where no task is named', async () => {
    const { trajectories } = await readImport('nemo-gym', [OWN]);
    expect(trajectories[1]).not.toHaveProperty('success');
    expect(trajectories[3]).toMatchObject({ outcomeReward: 0.5, success: true });
    expect(trajectories[2]).toMatchObject({ success: false, group: expect.stringMatching(/^input-[0-9a-f]{12}$/) });
    const { trajectories: judged } = await readImport('nemo-gym', [OWN], { successAt: '0.5', turnRewards: 'outcome' });
    expect(judged.map(({ success }) => success)).toEqual([true, true, false, true]);
    expect(judged[1].turns.map(({ reward }) => reward)).toEqual([0, 0.5]);
  });
});

const skippedBecause = 'nemo-gym on the real files (skipped where ../shared/data/nemo-gym is absent)';

describe.skipIf(!hasShared('nemo-gym'))(skippedBecause, () => {
  const readShared = (name: string) => readImport('nemo-gym', [sharedFile(`nemo-gym/${name}.jsonl.gz`)]);

  it.each([
    ['anyswe_agent__example_rollouts_hermes', [1, 1, 73, 0.4], '0 1 0 0 1', '10 15 17 12 19'],
    ['anyswe_agent__example_rollouts_opencode', [1, 1, 31, 0.8], '0 1 1 1 1', '4 8 11 4 4'],
    ['anyswe_agent__example_rollouts_pi', [1, 1, 25, 0.8], '1 0 1 1 1', '4 3 5 5 8'],
    ['competitive_coding_challenges__example_rollouts', [1, 0, 5, 0], '0 0 0 0 0', '1 1 1 1 1'],
    ['blackjack__example_rollouts', [1, 1, 7, 0.2], '-1 1 -1 1 1', '2 1 1 2 1'],
    ['aalcr__example_rollouts', [2, 0, 5, 0.6], '1 1 0 0 1', '1 1 1 1 1'],
    ['newton_bench__example_rollouts', [3, 1, 33, 0.5236], '1.000 1.000 0.109 1.000 -0.491', '4 6 11 6 6'],
    ['workplace_assistant__example_rollouts', [5, 0, 13, 0.8], '0 1 1 1 1', '2 2 3 3 3'],
    ['finance_agent_v2__example_rollouts', [5, 0, 29, 0.525], '0 0.875 0.75 1 0', '4 5 5 5 10'],
    ['tau2__example_rollouts', [5, 0, 9, 1], '1 1 1 1 1', '2 2 1 2 2'],
  ])('has the counts of the source for %s', async (name, [groups, mixed, turns, meanOutcome], rewards, lengths) => {
    const { trajectories, skipped } = await readShared(name);
    expect(skipped).toEqual([]);
    expect(countsOf(trajectories)).toEqual({ trajectories: 5, groups, mixed, turns, meanOutcome });
    const digits = rewards.includes('.000') ? 3 : null;
    expect(
      trajectories
        .map(({ outcomeReward }) => (digits === null ? String(outcomeReward) : Number(outcomeReward).toFixed(digits)))
        .join(' '),
    ).toBe(rewards);
    expect(trajectories.map((trajectory) => trajectory.turns.length).join(' ')).toBe(lengths);
  });

  it('has the log-probability of every token of competitive_coding', async () => {
    const { trajectories } = await readShared('competitive_coding_challenges__example_rollouts');
    const logprobs = trajectories
      .toSorted((a, b) => a.id.localeCompare(b.id))
      .map(({ turns }) => turns[0].tokens!.logprob as number[]);
    expect(logprobs.map((each) => each.length)).toEqual([964, 785, 1277, 959, 1038]);
    expect(logprobs.map((each) => each.reduce((sum, value) => sum + value, 0).toFixed(3))).toEqual([
      '-208.004',
      '-172.421',
      '-187.372',
      '-175.447',
      '-160.041',
    ]);
    expect(trajectories.map(({ signals }) => signals!.subtask_score)).toEqual([11, 11, 11, 11, 11]);
  });
});
