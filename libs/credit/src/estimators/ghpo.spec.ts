import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { finalHint, ghpo } from './ghpo.js';

type ByHint = { '0': number; [level: string]: number };
const guided = (accuracyByHint: ByHint, formatByHint: ByHint) => ({
  ...rollout('g', 0),
  signals: { accuracyByHint, formatByHint },
});
const at0 = (accuracy: number, format: number) => guided({ '0': accuracy }, { '0': format });
const ratios = [0.25, 0.5, 0.75];

describe('ghpo', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(ghpo, [at0(0, 1), at0(1, 1), at0(0, 0), at0(0, 1)]);
    expect(columns.trajectoryReward).toEqual([0.5, 1.5, 0, 0.5]);
    expectNumbers(trajectoryAdvantage, [-0.1986, 1.3905, -0.9932, -0.1986], 1e-4);
  });

  it('compares at the first hint at which anyone is right', () => {
    const given = [
      guided({ '0': 0, '25': 0, '50': 1 }, { '0': 1, '25': 1, '50': 0 }),
      guided({ '0': -1, '25': 0, '50': 0 }, { '0': 1, '25': 1, '50': 1 }),
    ];
    const { columns } = estimateOf(ghpo, given);
    expect(columns.hintRatio).toEqual([0.5, 0.5]);
    expect(columns.difficult).toEqual([1, 1]);
    expect(columns.trajectoryReward).toEqual([1, 0.5]);
  });

  it('stops at the last level that the whole group was run at', () => {
    const wrong = { '0': 0, '25': 0 };
    expect(finalHint([wrong, { ...wrong, '50': 1 }], [wrong, wrong], ratios)).toBe(0.25);
    expect(finalHint([wrong], [{ '0': 1 }], ratios)).toBe(0);
    expect(finalHint([{ '0': 0, '25': 0, '50': 0, '75': 0 }], [{ '0': 0, '25': 0, '50': 0, '75': 0 }], ratios)).toBe(
      0.75,
    );
    expect(finalHint([wrong], [wrong], [])).toBe(0);
  });

  it('gives 0 to a group that agrees', () => {
    expect([...creditOf(ghpo, [at0(1, 1), at0(1, 1)]).values]).toEqual([0, 0]);
  });

  it('gives 0 to a group of one and says so, or keeps its reward', () => {
    const zero = estimateOf(ghpo, [at0(1, 1)]);
    expect(zero.trajectoryAdvantage).toEqual([0]);
    expect(zero.warnings).toEqual(['groups of one trajectory, for which the reference is not defined: 1, which got 0']);
    const raw = estimateOf(ghpo, [at0(1, 1)], { singleton: 'raw', epsilon: 0 });
    expect(raw.trajectoryAdvantage).toEqual([1.5]);
    expect(raw.warnings).toEqual(['groups of one trajectory that still got credit: 1 of 1']);
  });
});
