import { findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { batchWithout, jackknifeStability, leaveOneTrajectoryOut } from '#lib/diagnostics';
import { describe, expect, it } from 'vitest';
import { stabilityOf } from './measure-stability.js';

/** Groups by the outcomes of their trajectories, of two turns each. */
const batch = (groups: readonly (readonly number[])[]) =>
  trajectoryBatch(
    groups.flatMap(
      (outcomes, g) =>
      outcomes.map((outcomeReward, i) => ({ id: `${g}-${i}`, group: `g${g}`, trainingStep: 0, outcomeReward, turns: [{ reward: 0 }, { reward: outcomeReward }] })), // prettier-ignore
    ),
  );

/** Measures, and counts the turns that were credited for it. */
async function measured(
  estimator: string,
  trajectories: TrajectoryBatch,
  { sampleRate = 1, run = 'r', isMute = (some: TrajectoryBatch) => some.ids.length < 0 } = {},
) {
  const credit = (some: TrajectoryBatch) => {
    const outcome = runEstimator(findEstimator(estimator), some);
    return outcome.kind === 'credit' ? turnCredit(some, outcome.credit) : null;
  };
  let visits = 0;
  const sums = await stabilityOf({ run, trajectories, sampleRate })(credit(trajectories)!, async (some) => {
    visits += some.stateKey.length;
    return isMute(some) ? null : credit(some);
  });
  return { sums, visits };
}

const GROUPS = Array.from({ length: 20 }, (_, g) =>
  Array.from({ length: 8 }, (_unused, i) => ((g * 5 + i * 3) % 7) / 7),
);

describe('how far a credit hangs on who else was there', () => {
  it('is the jackknife over trajectories for an estimator that judges a group by itself', async () => {
    const trajectories = batch(GROUPS);
    const { sums } = await measured('grpo', trajectories);
    const creditOf = (some: TrajectoryBatch) => {
      const outcome = runEstimator(findEstimator('grpo'), some);
      return outcome.kind === 'credit' ? turnCredit(some, outcome.credit) : new Float64Array(0);
    };
    const rounds = leaveOneTrajectoryOut(trajectories);
    const reduced = rounds.map((round) => creditOf(batchWithout(trajectories, round)));
    const all = jackknifeStability(trajectories, creditOf(trajectories), rounds, reduced, { zeroTolerance: 1e-8 });
    expect(sums).toMatchObject({ turns: 320, acrossGroups: 0 });
    expect(sums!.maxMove / 320).toBeCloseTo(all.meanMaxMove!, 12);
    expect(sums!.standardError / sums!.size).toBeCloseTo(all.relativeInstability!, 12);
  });

  it('leaves groups out where the estimator looks across them', async () => {
    expect((await measured('lite-ppo', batch(GROUPS))).sums).toMatchObject({ turns: 320, acrossGroups: 320 });
    expect((await measured('reinforce-plus-plus-baseline', batch(GROUPS))).sums).toMatchObject({ acrossGroups: 320 });
  });

  it('is nothing where nobody else counts', async () => {
    const { sums } = await measured('discounted-return', batch(GROUPS));
    expect(sums).toMatchObject({ turns: 320, maxMove: 0, standardError: 0, signUnstable: 0 });
  });

  it('is measured on some groups of a large shard, the same ones every time', async () => {
    const large = batch(Array.from({ length: 2_000 }, (_, g) => GROUPS[g % 20]));
    const { sums, visits } = await measured('grpo', large);
    // 32,000 turns in groups of 8: all of them would be 224,000 visits
    expect(visits).toBeLessThan(14_000);
    expect(sums!.turns).toBeGreaterThan(600);
    expect(sums!.turns).toBeLessThan(2_000);
    expect((await measured('grpo', large)).sums).toEqual(sums);
    expect((await measured('grpo', large, { run: 'another' })).sums).not.toEqual(sums);
    const sampled = await measured('grpo', large, { sampleRate: 0.1 });
    expect(sampled.sums!.turns).toBeLessThan(sums!.turns / 4);
  });

  it('is not known of groups of two, of groups too large, and where nothing is said when somebody is left out', async () => {
    expect((await measured('grpo', batch(GROUPS.map((outcomes) => outcomes.slice(0, 2))))).sums).toBeNull();
    const crowd = Array.from({ length: 65 }, (_, i) => i % 2);
    expect((await measured('grpo', batch([crowd, crowd, crowd]))).sums).toBeNull();
    expect((await measured('grpo', batch(GROUPS), { isMute: (some) => some.ids.length === 140 })).sums).toBeNull();
    expect((await measured('grpo', batch([]))).sums).toBeNull();
  });

  it('is measured of a single group', async () => {
    expect((await measured('grpo', batch([[1, 0, 1, 0]]))).sums).toMatchObject({ turns: 8, acrossGroups: 0 });
  });
});
