/**
 * The trajectories of a training step as events: eight groups of two, of which in `silent` all outcomes are equal.
 *
 * @param moreOf what else the event of the i-th trajectory of a group says
 */
export const groupsOfTwo = (
  step: number,
  silent: number,
  prefix: string,
  moreOf: (group: number, i: number) => object,
) =>
  [0, 1, 2, 3, 4, 5, 6, 7].flatMap((group) =>
    [0, 1].map((i) => ({
      type: 'trajectory.recorded',
      id: `${prefix}t${step}-${group}-${i}`,
      group: `g${group}`,
      trainingStep: step,
      outcomeReward: group < silent ? 0 : i,
      ...moreOf(group, i),
    })),
  );
