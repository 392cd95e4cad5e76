import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { agentOmit } from './agent-omit.js';

const saving = (reward: number, thought: number, observation: number, totalTokens = 1000) => ({
  ...rollout('g', reward, [{ signals: { savedThoughtTokens: thought, savedObservationTokens: observation } }]),
  signals: { totalTokens },
});
const step = (reward: number, taskScore: number, flags: boolean, contextTokens = 400) => ({
  reward,
  signals: {
    taskScore,
    contextTokens,
    omitsThought: flags,
    omitsObservation: flags,
    savedThoughtTokens: 25,
    savedObservationTokens: 50,
  },
});
const released = { variant: 'released' };

describe('agent-omit', () => {
  it('pays savings on success', () => {
    const { columns, trajectoryAdvantage } = estimateOf(agentOmit, [
      saving(1, 50, 150),
      saving(0, 50, 150),
      saving(1, 0, 0),
    ]);
    expectNumbers(columns.omissionReward, [0.2, 0, 0], 1e-12);
    expectNumbers(columns.trajectoryReward, [0.84, 0, 0.8], 1e-12);
    expectNumbers(trajectoryAdvantage, [0.619, -1.1537, 0.5346], 1e-4);
  });

  it('saves nothing where there is nothing to save', () => {
    expect(estimateOf(agentOmit, [saving(1, 0, 0, 0)]).columns.omissionReward).toEqual([0]);
  });

  it('is GRPO where savings weigh nothing', () => {
    const given = [saving(1, 50, 150), saving(0.5, 0, 150), saving(0, 0, 0)];
    const values = creditOf(agentOmit, given, { omissionWeight: 0, epsilon: 0 }).values;
    expectNumbers(values, [1, 0, -1], 1e-12);
  });

  it('gives exactly 0 to a group that agrees', () => {
    expect([...creditOf(agentOmit, [saving(1, 10, 20), saving(1, 20, 10), saving(1, 30, 0)]).values]).toEqual([
      0, 0, 0,
    ]);
  });

  it('adds up flagged savings of rewarded turns where it does what the code does', () => {
    const { columns } = estimateOf(
      agentOmit,
      [
        rollout('g', 0, [step(0, 0, true), step(1, 1, true)]),
        rollout('g', 0, [step(1, 0.5, false)]),
        rollout('g', 0, [step(1, 1, true, 0)]),
        rollout('g', 0, []),
      ],
      released,
    );
    expectNumbers(columns.trajectoryReward, [0.8 + 0.2 * 0.1875, 0.4, 0.8, 0], 1e-12);
    expect(columns.omissionReward).toBeUndefined();
  });

  it('asks for the signals of its variant', () => {
    const paper = runEstimator(agentOmit, trajectoryBatch([rollout('g', 1, [step(1, 1, true)])]));
    expect(paper.kind === 'missing' && paper.missing.map(({ path }) => path)).toEqual(['trajectory.totalTokens']);
    const code = runEstimator(agentOmit, trajectoryBatch([saving(1, 1, 1)]), released);
    expect(code.kind === 'missing' && code.missing.map(({ path }) => path)).toContain('turn.taskScore');
  });
});
