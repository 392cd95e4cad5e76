import { soughtState, type Learner, type NearTurn, type SoughtState } from '#lib/credit-learned';
import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { successOf } from '#lib/diagnostics';
import { rowsWhere } from '#lib/numeric';
import { RecreditError } from '#lib/kernel';
import type { SegmentStore } from '#lib/storage';
import { OpenSegments, type StepSource } from './load-step.js';

/** Where the state of a turn is read. It travels to a thread as it is. */
export interface SeekTask {
  readonly source: StepSource;
  readonly trajectory: string;
  readonly turn: number;
}

/** All that the search of some training steps depends on. It travels to a thread as it is. */
export interface NearestTask {
  /** one for each training step */
  readonly sources: readonly StepSource[];
  readonly sought: SoughtState;
  /** the trajectory that the turn is of, which is not searched */
  readonly own: string;
  /** null: all groups */
  readonly group: string | null;
  readonly k: number;
}

/** A near turn, with what came of its trajectory. */
export interface JudgedTurn extends NearTurn {
  readonly trainingStep: number;
  readonly group: string;
  /** null: not said */
  readonly outcomeReward: number | null;
}

/** What one training step has. */
export interface NearestInStep {
  /** most similar first */
  readonly failures: readonly JudgedTurn[];
  readonly successes: readonly JudgedTurn[];
  /** trajectories that were compared */
  readonly compared: { readonly failures: number; readonly successes: number };
  /** trajectories that were not: nobody said how they ended, or they have nothing to compare */
  readonly leftOut: { readonly unjudged: number; readonly incomparable: number };
  readonly device: string;
  readonly warnings: readonly string[];
}

/** States are compared by what was said of turns: nobody asks for the values of tokens. */
const withoutTokens = (store: SegmentStore) => new OpenSegments(store, false);

/** What a turn's like is sought by; null: its state says nothing. @throws where the trajectory is not in the source */
export async function seekTask(
  store: SegmentStore,
  { source, trajectory, turn }: SeekTask,
): Promise<SoughtState | null> {
  const trajectories = await withoutTokens(store).trajectoriesOf(source);
  const row = trajectories.ids.indexOf(trajectory);
  if (row < 0) throw new RecreditError('internal.error', `the trajectory ${trajectory} is not where its step is read`);
  return soughtState(trajectories, trajectories.turnOffsets[row] + turn);
}

/** Searches training steps on the device of the learner, each segment being opened once. In the order of their sources. */
export async function nearestTask(
  store: SegmentStore,
  { sources, ...asked }: NearestTask,
  learner: Pick<Learner, 'nearest'>,
): Promise<NearestInStep[]> {
  const segments = withoutTokens(store);
  const found: NearestInStep[] = [];
  for (const source of sources) found.push(await nearestIn(await segments.trajectoriesOf(source), asked, learner));
  return found;
}

async function nearestIn(
  trajectories: TrajectoryBatch,
  { sought, own, group, k }: Omit<NearestTask, 'sources'>,
  learner: Pick<Learner, 'nearest'>,
): Promise<NearestInStep> {
  const { ids, groups, groupOf } = trajectories;
  const success = successOf(trajectories);
  const isSearched = (row: number) => ids[row] !== own && (group === null || groups[groupOf[row]] === group);
  const rowsThat = (ended: (success: number) => boolean) =>
    rowsWhere(ids.length, (row) => isSearched(row) && ended(success[row]));
  const sets = [rowsThat((of) => of === 0), rowsThat((of) => of === 1)];
  const { value, device, warnings } = await learner.nearest(trajectories, sought, sets, k);
  const [failures, successes] = value;
  return {
    failures: judged(trajectories, failures.turns),
    successes: judged(trajectories, successes.turns),
    compared: { failures: failures.compared, successes: successes.compared },
    leftOut: {
      unjudged: rowsThat(Number.isNaN).length,
      incomparable: failures.leftOut + successes.leftOut,
    },
    device,
    warnings,
  };
}

function judged(trajectories: TrajectoryBatch, turns: readonly NearTurn[]): JudgedTurn[] {
  const { ids, groups, groupOf, trainingStep } = trajectories;
  const outcomes = numbers(trajectories, 'trajectory.outcomeReward');
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  return turns.map((turn) => {
    const row = rowOf.get(turn.trajectory)!;
    const outcome = outcomes?.[row] ?? NaN;
    const outcomeReward = Number.isNaN(outcome) ? null : outcome;
    return { ...turn, trainingStep: trainingStep[row], group: groups[groupOf[row]], outcomeReward };
  });
}
