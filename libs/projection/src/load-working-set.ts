import type { LoggedEvent } from '#lib/event-log';
import type { Queryable } from '#lib/storage';
import { checkpointModel, START } from './checkpoint.js';
import { NO_PROGRESS, runProgressModel } from './run-progress.projection.js';
import { signalSummaryModel } from './signal-summary.projection.js';
import { loadRows } from './stored-rows.js';
import { trainingStepModel } from './training-step.projection.js';
import { trajectoryGroupModel } from './trajectory-group.projection.js';
import { trajectoryModel } from './trajectory.projection.js';
import { WorkingSet, type Progress } from './working-set.js';

/** Loads how far the run is, and keeps others from projecting it until the transaction ends. */
export async function lockProgress(db: Queryable, runId: string): Promise<Progress> {
  const [checkpoint] = await loadRows(db, checkpointModel, runId, 'true for update');
  const [run] = await loadRows(db, runProgressModel, runId);
  return { checkpoint: checkpoint ?? { ...START }, run: run ?? { ...NO_PROGRESS } };
}

/** Loads the rows that the events speak of: one statement per read model, however many events there are. */
export async function loadWorkingSet(
  db: Queryable,
  runId: string,
  progress: Progress,
  events: readonly LoggedEvent[],
): Promise<WorkingSet> {
  const mentioned = mentionedBy(events);
  const trajectories = await trajectoriesOf(db, runId, [...mentioned.trajectories]);
  // an event may name another place than its trajectory has, and it is the trajectory's that is counted
  for (const { trainingStep, groupName: group } of trajectories) mentioned.place({ trainingStep, group });
  return new WorkingSet(progress, {
    trajectories,
    groups: await groupsOf(db, runId, [...mentioned.groups.values()]),
    steps: await stepsOf(db, runId, [...mentioned.steps]),
    signals: mentioned.signals ? await loadRows(db, signalSummaryModel, runId) : [],
  });
}

async function trajectoriesOf(db: Queryable, runId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return loadRows(db, trajectoryModel, runId, `id = any ($2) and superseded_at is null`, [ids]);
}

async function stepsOf(db: Queryable, runId: string, steps: readonly number[]) {
  if (steps.length === 0) return [];
  return loadRows(db, trainingStepModel, runId, `training_step = any ($2) and superseded_at is null`, [steps]);
}

async function groupsOf(db: Queryable, runId: string, places: readonly Place[]) {
  if (places.length === 0) return [];
  const where = `training_step = any ($2) and superseded_at is null
    and (training_step, name) in (select * from unnest($2::integer[], $3::text[]))`;
  const params = [places.map(({ trainingStep }) => trainingStep), places.map(({ group }) => group)];
  return loadRows(db, trajectoryGroupModel, runId, where, params);
}

interface Place {
  readonly trainingStep: number;
  readonly group: string;
}

function mentionedBy(events: readonly LoggedEvent[]) {
  const trajectories = new Set<string>();
  const groups = new Map<string, Place>();
  const steps = new Set<number>();
  let signals = false;
  const place = ({ trainingStep, group }: Place) => {
    groups.set(`${trainingStep} ${group}`, { trainingStep, group });
    steps.add(trainingStep);
  };
  for (const { event } of events) {
    switch (event.type) {
      case 'turn.recorded':
      case 'trajectory.ended':
        trajectories.add(event.trajectory);
        place(event);
        signals = true;
        break;
      case 'trajectory.recorded':
        trajectories.add(event.id);
        place(event);
        signals = true;
        break;
      case 'trainingStep.recorded':
        steps.add(event.trainingStep);
        break;
      case 'annotation.recorded':
        signals = true;
        break;
      case 'run.started':
      case 'checkpoint.recorded':
      case 'run.rewound':
      case 'run.ended':
      case 'analysis.requested':
      case 'analysis.completed':
      case 'alert.opened':
      case 'alert.closed':
      case 'run.erased':
        break;
    }
  }
  return { trajectories, groups, steps, signals, place };
}
