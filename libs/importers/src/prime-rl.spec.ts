import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

const TRACES = ownFile('prime-rl/rollouts/step_3/train/effective/traces.jsonl');

describe('prime-rl', () => {
  it('makes a trajectory of every leaf of a trace, which names the one it branches off', async () => {
    const { trajectories, skipped } = await readImport('prime-rl', [TRACES]);
    expect(trajectories.map(({ id, parent }) => [id, parent])).toEqual([
      ['trace-e1', undefined],
      ['trace-e1-1', { trajectory: 'trace-e1', turn: -1 }],
      ['trace-e1-2', { trajectory: 'trace-e1', turn: 0 }],
      ['trace-e1-3', { trajectory: 'trace-e1-2', turn: 1 }],
      ['trace-e2', undefined],
    ]);
    expect(trajectories.map(({ turns }) => turns.map(({ action }) => action))).toEqual([
      ['add{"a":2,"b":2}', 'respond:4'],
      ['respond:5'],
      ['add{"a":2,"b":2}', 'respond:four', 'respond:Yes.'],
      ['add{"a":2,"b":2}', 'respond:four', 'respond:No.'],
      ['respond:5'],
    ]);
    expect(skipped).toEqual([{ where: ':3', why: 'trace trace-e3: the parent of node 0 is no node before it' }]);
  });

  it('takes the weighted rewards, the step and the sampled tokens alone', async () => {
    const { trajectories } = await readImport('prime-rl', [TRACES]);
    expect(trajectories[0]).toMatchObject({
      group: 'g1',
      trainingStep: 3,
      outcomeReward: 1,
      success: true,
      signals: { 'reward.correct': 0.5, length: 3, policyStart: 2, policyEnd: 3 },
      turns: [
        {
          state: 'user:2 + 2?',
          tokens: { tokenId: [5, 6], rolloutLogprob: [-0.5, -0.25], loggedAdvantage: [0.5, 0.5] },
        },
        { state: 'tool:4', tokens: { tokenId: [7], rolloutLogprob: [-0.125] } },
      ],
    });
  });

  it('reads metrics as training steps, and says why a token export is not', async () => {
    const { events } = await readImport('prime-rl', [ownFile('prime-rl/metrics.jsonl')]);
    expect(events).toEqual([
      {
        type: 'trainingStep.recorded',
        at: '2023-11-14T22:13:20.500Z',
        trainingStep: 0,
        metrics: { 'reward/mean': 0.25, loss: 0.5 },
      },
      {
        type: 'trainingStep.recorded',
        at: '2023-11-14T22:13:30.000Z',
        trainingStep: 1,
        metrics: { 'reward/mean': null },
      },
    ]);
    const { skipped } = await readImport('prime-rl', [ownFile('prime-rl/rank_0.jsonl')]);
    expect(skipped[0].why).toContain('names no trajectory');
  });
});
