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
    const members: number[][] = [];
    for (let group = 0; group < groupCount; group++) members.push([]);
    for (let row = 0; row < groupOf.length; row++) members[groupOf[row]].push(row);
    const found: GroupRows[] = [];
    for (let group = 0; group < groupCount; group++) {
      const rows = members[group];
      if (rows.length > 0) found.push({ name: groups[group], trainingStep: trainingStep[rows[0]], rows });
    }
    return found;
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
  let judged = 0;
  let solved = 0;
  const success = successOf(trajectories);
  for (let row = 0; row < success.length; row++) {
    if (Number.isNaN(success[row])) continue;
    judged++;
    solved += success[row];
  }
  return judged > 0 ? solved / judged : null;
}

export function mean(values: readonly number[]): number | null {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length > 0 ? sum / values.length : null;
}
