import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { oncePerBatch } from './once-per-batch.js';

/** The trajectories of one group, as rows of the batch. */
export interface GroupRows {
  /** the trainer's name of it */
  readonly name: string;
  readonly trainingStep: number;
  /** [members] ascending */
  readonly rows: readonly number[];
}

/** The groups of a batch in the order of their first appearance. */
export const groupRows = oncePerBatch(
  ({ groups, groupOf, groupCount, trainingStep }: TrajectoryBatch): readonly GroupRows[] => {
    const rows: number[][] = Array.from({ length: groupCount }, () => []);
    for (let row = 0; row < groupOf.length; row++) rows[groupOf[row]].push(row);
    return rows.flatMap((members, group) =>
      members.length > 0 ? [{ name: groups[group], trainingStep: trainingStep[members[0]], rows: members }] : [],
    );
  },
);

/** [trajectories] 1 and 0; NaN: not said. What is said of success, else whether the outcome is above 0. */
export const successOf = oncePerBatch((trajectories: TrajectoryBatch): Float64Array => {
  const said = numbers(trajectories, 'trajectory.success');
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  const success = new Float64Array(trajectories.ids.length).fill(NaN);
  for (let i = 0; i < success.length; i++) {
    if (said && !Number.isNaN(said[i])) success[i] = said[i] > 0 ? 1 : 0;
    else if (outcome && !Number.isNaN(outcome[i])) success[i] = outcome[i] > 0 ? 1 : 0;
  }
  return success;
});

/** Mean success of the trajectories that say it; null: none does. */
export function successRate(trajectories: TrajectoryBatch): number | null {
  let [judged, solved] = [0, 0];
  for (const success of successOf(trajectories)) {
    if (Number.isNaN(success)) continue;
    judged++;
    solved += success;
  }
  return judged > 0 ? solved / judged : null;
}

export function mean(values: readonly number[]): number | null {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}
