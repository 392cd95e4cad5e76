import type { TrajectoryRecord } from '#lib/protocol';
import type { SourceEvent } from './importer.js';

export interface Skipped {
  /** a line or an index of a file */
  readonly where: string;
  readonly why: string;
}

/** So many are listed; all are counted. */
const MAX_LISTED = 1_000;

/** What the files of an import held, counted as it goes by. */
export class Tally {
  readonly skipped: Skipped[] = [];
  skippedCount = 0;
  turns = 0;
  annotations = 0;
  events = 0;
  private readonly trajectoryIds = new Set<string>();
  private readonly groupKeys = new Set<string>();

  get trajectories(): number {
    return this.trajectoryIds.size;
  }

  get groups(): number {
    return this.groupKeys.size;
  }

  addTrajectory({ id, group, trainingStep, turns }: TrajectoryRecord): void {
    this.events++;
    this.seen(id, group, trainingStep);
    this.turns += turns.length;
  }

  addEvent(event: SourceEvent): void {
    this.events++;
    if (event.type === 'annotation.recorded') this.annotations++;
    if (event.type !== 'turn.recorded' && event.type !== 'trajectory.ended') return;
    this.seen(String(event.trajectory), String(event.group), Number(event.trainingStep));
    if (event.type === 'turn.recorded') this.turns++;
  }

  skip(skipped: Skipped): void {
    this.skippedCount++;
    if (this.skipped.length < MAX_LISTED) this.skipped.push(skipped);
  }

  private seen(id: string, group: string, trainingStep: number): void {
    this.trajectoryIds.add(id);
    this.groupKeys.add(`${trainingStep} ${group}`);
  }
}
