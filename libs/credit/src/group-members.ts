import type { TrajectoryBatch } from '#lib/dataset';

/** [groups] the rows of each group's trajectories, in the order of the batch. */
export function groupMembers({ groupOf, groupCount }: Pick<TrajectoryBatch, 'groupOf' | 'groupCount'>): number[][] {
  const members: number[][] = Array.from({ length: groupCount }, () => []);
  groupOf.forEach((group, i) => members[group].push(i));
  return members;
}
