import { trajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { creditProfile, profileSums, PROFILE_TURNS } from './credit-profile.js';

/** One group per list of trajectories. */
function profileOf(...groups: (readonly (readonly number[])[])[]) {
  const trajectories = trajectoryBatch(
    groups.flatMap((list, g) =>
      list.map((credit, i) => ({ id: `${g}-${i}`, group: `g${g}`, trainingStep: 0, turns: credit.map(() => ({})) })),
    ),
  );
  return creditProfile('x', profileSums(trajectories, Float64Array.from(groups.flat(2))));
}

describe('credit profile', () => {
  it('agrees with the worked example of the method', () => {
    const found = profileOf(
      [
        [0.2, 0.3, 0.5],
        [-0.1, 0, 0, -0.9],
        [0.5, 0.5],
        [0, -1],
      ],
      [[0], [0, 0]],
    );
    expect(found.signalDensity).toBeCloseTo(8 / 14, 12);
    expect(found.withinTrajectoryShare).toBeCloseTo(0.4136, 4);
    expect(found.gini).toBeCloseTo(0.35, 4);
    expect(found.effectiveTurnShare).toBeCloseTo(0.6705, 4);
    expect(found).toMatchObject({ turns: 14, groups: 2, groupsWithSignal: 1, countByTurn: [6, 5, 2, 1] });
  });

  it('has no share inside trajectories for an outcome estimator, exactly', () => {
    expect(
      profileOf([
        [0.1, 0.1, 0.1],
        [-0.3, -0.3],
      ]).withinTrajectoryShare,
    ).toBe(0);
  });

  it('has nothing but that share where all trajectories have one mean', () => {
    expect(
      profileOf([
        [1, -1],
        [-1, 1, 0],
      ]).withinTrajectoryShare,
    ).toBe(1);
  });

  it('is null with a reason where all credit is equal', () => {
    const found = profileOf([[0.1, 0.1], [0.1]]);
    expect(found).toMatchObject({ mean: 0.1, std: 0, withinTrajectoryShare: null, signalDensity: 1 });
    expect(found.reasons).toEqual({ withinTrajectoryShare: 'all credit is equal' });
  });

  it('looks only at the turns that say something', () => {
    const found = profileOf([[NaN, 2, NaN], [NaN]], [[NaN, NaN]]);
    expect(found).toMatchObject({ turns: 1, trajectories: 1, groups: 1, mean: 2, meanByTurn: [null, 2, null] });
    expect(found).toMatchObject({ effectiveTurns: 1, lastShare: 1, countByTurn: [0, 1, 0] });
  });

  it.each([
    ['no trajectory', []],
    ['a trajectory without a turn', [[[]]]],
    ['nothing said', [[[NaN]]]],
  ])('is null, never 0, for %s', (_, groups) => {
    expect(profileOf(...groups)).toMatchObject({ turns: 0, mean: null, std: null, signalDensity: null, gini: null });
  });

  it('folds what is beyond the last place into it, and says so', () => {
    const long = new Array<number>(PROFILE_TURNS + 8).fill(1);
    const found = profileOf([long, [1]]);
    expect(found.foldedFromTurn).toBe(PROFILE_TURNS - 1);
    expect(found.countByTurn).toHaveLength(PROFILE_TURNS);
    expect(found.countByTurn.at(-1)).toBe(9);
    expect(profileOf([[1]]).foldedFromTurn).toBeNull();
  });
});
