import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { groupRows, successOf, type GroupRows } from './groups.js';
import { oncePerBatch } from './once-per-batch.js';

/** What was tried of one task (a group's name), and how it went. */
export interface TaskTally {
  readonly task: string;
  readonly attempts: number;
  readonly successes: number;
  /** every reward of its latest group is 0 or less */
  readonly latestHopeless: boolean;
}

/** The tasks of a batch in the order of their first appearance; what says nothing of success is no attempt. */
export const taskTallies = oncePerBatch((trajectories: TrajectoryBatch): readonly TaskTally[] => {
  const success = successOf(trajectories);
  const reward = numbers(trajectories, 'trajectory.outcomeReward') ?? success;
  const tallies: TaskTally[] = [];
  for (const { name, rows } of groupRows(trajectories).toSorted(byTrainingStep)) {
    let attempts = 0;
    let successes = 0;
    let latestHopeless = true;
    for (const row of rows) {
      if (Number.isNaN(success[row])) continue;
      attempts++;
      successes += success[row];
      latestHopeless &&= reward[row] <= 0;
    }
    tallies.push({ task: name, attempts, successes, latestHopeless });
  }
  return mergeTallies(tallies);
});

const byTrainingStep = (a: GroupRows, b: GroupRows) => a.trainingStep - b.trainingStep;

/** Of the same task added up; whoever comes last is the latest. */
export function mergeTallies(tallies: readonly TaskTally[]): TaskTally[] {
  const byTask = new Map<string, TaskTally>();
  for (const tally of tallies) {
    if (tally.attempts === 0) continue;
    const known = byTask.get(tally.task);
    byTask.set(tally.task, known ? addedTo(known, tally) : tally);
  }
  return [...byTask.values()];
}

function addedTo(known: TaskTally, { task, attempts, successes, latestHopeless }: TaskTally): TaskTally {
  return { task, attempts: known.attempts + attempts, successes: known.successes + successes, latestHopeless };
}

/** A tally as three members of the catalogue keep it, of each task on each training step. */
export type KeptTally = readonly [task: string, attempts: number, successes: number, latestHopeless: boolean];

/** null: nothing was tried */
export function keptTallies(trajectories: TrajectoryBatch): readonly KeptTally[] | null {
  const kept = allKept(trajectories);
  return kept.length > 0 ? kept : null;
}

const allKept = oncePerBatch((trajectories: TrajectoryBatch): readonly KeptTally[] => {
  const kept: KeptTally[] = [];
  for (const { task, attempts, successes, latestHopeless } of taskTallies(trajectories)) {
    kept.push([task, attempts, successes, latestHopeless]);
  }
  return kept;
});

export function talliesOf(kept: readonly KeptTally[]): TaskTally[] {
  return kept.map(([task, attempts, successes, latestHopeless]) => ({ task, attempts, successes, latestHopeless }));
}
