import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { auditStep } from './audit-step.js';
import { claimOf } from './claim-of.js';
import { lossOf, lossyRewards } from './rounding.js';

const UNIT = 2 ** -24;
const f = Math.fround;

describe('what a trainer may lose that counts in float32', () => {
  it('is nothing where sums are exact', () => {
    const groupOf = Int32Array.of(0, 0, 1);
    expect(lossyRewards({ reward: [1, 0, -0.125], groupOf, groupCount: 2 })).toBeNull();
    expect(lossyRewards({ reward: [NaN, 0, 1], groupOf, groupCount: 2 })).toBeNull();
  });

  it('is a unit of the last place for each number of a sum, by group', () => {
    const rewards = { reward: [0.7, -0.9, 1, 0, 0.1], groupOf: Int32Array.of(0, 0, 1, 1, 2), groupCount: 4 };
    const lossy = lossyRewards({ ...rewards, excluded: [1, 0, 0, 0, 0] })!;
    expect([...lossy.lost]).toEqual([0.9 * UNIT, 0, 0.1 * UNIT, 0]);
    expect([...lossy.nudged]).toEqual([0.7, -0.9 + 0.9 * UNIT, 1, 0, 0.1 + 0.1 * UNIT]);
    expect([...lossyRewards(rewards)!.lost]).toEqual([1.8 * UNIT, 0, 0.1 * UNIT, 0]);
  });

  it('counts by the slope of the advantage where rewards differ, and by the nudge', () => {
    const lossy = { reward: [1, 3, 5, 5], nudged: null!, lost: Float64Array.of(0.5, 0.25), groupOf: Int32Array.of(0, 0, 1, 1) }; // prettier-ignore
    const advantage = Float64Array.of(-4, 4, 0, NaN, 2);
    const moved = Float64Array.of(-4, 4.5, 0, NaN, 9);
    // a row of the fourth trajectory says nothing, its other one does
    expect([...lossOf(lossy, advantage, moved, Int32Array.of(0, 1, 2, 3, 3))]).toEqual([2.5, 2.5, 7, 7, 7]);
  });
});

it('forgives nothing where numbers overflow', () => {
  const lossy = { reward: [-1e308, 1e308], nudged: null!, lost: Float64Array.of(1e300), groupOf: Int32Array.of(0, 0) };
  const [advantage, moved] = [Float64Array.of(-1e308, 1e308), Float64Array.of(NaN, Infinity)];
  expect([...lossOf(lossy, advantage, moved, Int32Array.of(0, 1))]).toEqual([0, 0]);
});

describe('the audit of a trainer that counts in float32', () => {
  /** One group for each list of rewards. */
  const stepOf = (groups: readonly (readonly number[])[]) =>
    trajectoryBatch(
      groups.flatMap((rewards, g) =>
        rewards.map((outcomeReward, i) => ({
          id: `t${g}-${i}`,
          group: `g${g}`,
          trainingStep: 0,
          outcomeReward,
          turns: [{ state: `s${g}-${i}`, reward: 0 }],
        })),
      ),
    );
  const sum = (values: readonly number[]) => values.reduce((total, value) => f(total + f(value)), 0);
  /** (R − mean) / (std + epsilon), the variance from squares where asked: as no trainer should. */
  const counted = (rewards: readonly number[], isOfSquares = false, epsilon = 1e-6) => {
    const n = rewards.length;
    const mean = f(sum(rewards) / n);
    const squares = rewards.map((value) => f(f(f(value) - mean) ** 2));
    const ofSquares = f(f(sum(rewards.map((value) => f(f(value) ** 2))) / n) - f(mean * mean));
    const variance = isOfSquares ? f((Math.max(0, ofSquares) * n) / (n - 1)) : f(sum(squares) / (n - 1));
    return rewards.map((value) => f(f(f(value) - mean) / f(f(Math.sqrt(variance)) + f(epsilon))));
  };
  const audit = (groups: readonly (readonly number[])[], logged: readonly number[], id = 'grpo', params = {}) => {
    const trajectories = stepOf(groups);
    const claim = claimOf(trajectories, { id, params }, { level: 'turn' });
    if ('missing' in claim) throw new Error('every trajectory has a reward');
    return auditStep(trajectories, claim, { level: 'turn', values: Float64Array.from(logged) })!;
  };

  const UNANIMOUS = [0.9, 0.9, 0.9];
  const NEAR = [0.9001, 0.9002, 0.8999, 0.9004, 0.8997];

  it('leaves it in peace where a group is all but unanimous', () => {
    const groups = [UNANIMOUS, [0.1, 0.9, 0.9], NEAR];
    const logged = groups.flatMap((rewards) => counted(rewards));
    expect(Math.abs(logged[0])).toBeGreaterThan(0.01);
    expect(audit(groups, logged)).toMatchObject({ verdict: 'match', mismatchShare: 0, worst: [] });
    const byTrl = groups.flatMap((rewards) => counted(rewards, false, 1e-4));
    expect(audit(groups, byTrl, 'grpo', { epsilon: 1e-4 })).toMatchObject({ verdict: 'match' });
    expect(audit(groups, byTrl)).toMatchObject({ verdict: 'other-formula', explanation: { formula: 'grpo-epsilon-1e-4' } }); // prettier-ignore
  });

  it('leaves it in peace by an estimator of the catalogue too', () => {
    const groups = [UNANIMOUS, [0.1, 0.9, 0.9], NEAR];
    const logged = groups.flatMap((rewards) => counted(rewards));
    // no state is shared, so there is no step part
    const gigpo = audit(groups, logged, 'gigpo', { normalizeByStd: true, statsAcross: 'trajectories' });
    expect(gigpo).toMatchObject({ verdict: 'match', mismatchShare: 0 });
  });

  it('accuses it where the variance is taken from squares, which loses far more', () => {
    const groups = [[0.1, 0.9, 0.9], NEAR];
    const found = audit(groups, groups.flatMap((rewards) => counted(rewards, true))); // prettier-ignore
    expect(found).toMatchObject({ verdict: 'unexplained', nearest: [{ formula: 'grpo' }, {}, {}] });
    expect(new Set(found.worst.map(({ group }) => group))).toEqual(new Set(['g1']));
  });

  it('still sees rows that were set to 0 among such groups', () => {
    const groups = [UNANIMOUS, [0.1, 0.9, 0.9], [0.9, 0.1, 0.7]];
    const logged = groups.flatMap((rewards) => counted(rewards)).map((value, i) => (i === 4 || i === 6 ? 0 : value));
    expect(audit(groups, logged)).toMatchObject({
      verdict: 'zeroed-rows',
      explanation: { detail: { zeroedRows: [4, 6] } },
    });
  });
});
