import { numbers, type TrajectoryBatch } from '#lib/dataset';

/** The trajectories of one group, as rows of the batch. */
export interface GroupRows {
  /** the trainer's name of it */
  readonly name: string;
  readonly trainingStep: number;
  /** [members] ascending */
  readonly rows: readonly number[];
}

/** The groups of a batch in the order of their first appearance. */
export function groupRows({ groups, groupOf, groupCount, trainingStep }: TrajectoryBatch): GroupRows[] {
  const rows: number[][] = Array.from({ length: groupCount }, () => []);
  groupOf.forEach((group, row) => rows[group].push(row));
  return rows.flatMap((members, group) =>
    members.length > 0 ? [{ name: groups[group], trainingStep: trainingStep[members[0]], rows: members }] : [],
  );
}

/** [trajectories] 1 and 0; NaN: not said. What is said of success, else whether the outcome is above 0. */
export function successOf(trajectories: TrajectoryBatch): Float64Array {
  const success = numbers(trajectories, 'trajectory.success');
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  return Float64Array.from({ length: trajectories.ids.length }, (_, i) => {
    if (success && !Number.isNaN(success[i])) return success[i] > 0 ? 1 : 0;
    if (outcome && !Number.isNaN(outcome[i])) return outcome[i] > 0 ? 1 : 0;
    return NaN;
  });
}

/**
 * What a number is multiplied by so that a key can be added to it and both are told apart, exactly. Small numbers are
 * looked up several times as fast as texts, or as large ones.
 *
 * @param keys -1: none
 */
export function widthOf(keys: Int32Array): number {
  let most = 0;
  for (const key of keys) if (key > most) most = key;
  return most + 2;
}

export function mean(values: readonly number[]): number | null {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
