import type { RunEvent, Signals } from '#lib/protocol';
import type { ReadModel } from './read-model.js';
import { storable } from './storable.js';

export interface AnnotationRow {
  readonly position: number;
  /** 0: the trajectory; n: the nth of the event's turns */
  readonly item: number;
  readonly trajectoryId: string;
  /** null: of the trajectory */
  readonly turn: number | null;
  readonly annotator: string;
  readonly schema: string | null;
  readonly attempt: number;
  readonly status: 'ok' | 'failed';
  readonly failureReason: string | null;
  readonly signals: Signals;
  readonly rationale: string | null;
  readonly recordedAt: Date;
}

export const annotationModel: ReadModel<AnnotationRow> = {
  table: 'annotation',
  key: ['position', 'item'],
  columns: {
    position: 'bigint',
    item: 'integer',
    trajectoryId: 'text',
    turn: 'integer',
    annotator: 'text',
    schema: 'text',
    attempt: 'bigint',
    status: 'text',
    failureReason: 'text',
    signals: 'json',
    rationale: 'text',
    recordedAt: 'timestamptz',
  },
};

/** A row for the trajectory where the event speaks of it (or failed to speak of anything), and one per turn. */
export function annotationRows(
  event: Extract<RunEvent, { type: 'annotation.recorded' }>,
  position: number,
  recordedAt: Date,
): AnnotationRow[] {
  const turns = event.turns ?? [];
  const common = {
    position,
    trajectoryId: event.trajectory,
    annotator: event.annotator,
    schema: event.schema ?? null,
    attempt: event.attempt ?? 0,
    status: event.status ?? 'ok',
    failureReason: event.failureReason === undefined ? null : storable(event.failureReason),
    recordedAt,
  } as const;
  const ofTurns = turns.map(({ turn, signals, rationale }, i) => ({
    ...common,
    item: i + 1,
    turn,
    signals,
    rationale: rationale === undefined ? null : storable(rationale),
  }));
  if (!event.signals && turns.length > 0) return ofTurns;
  return [{ ...common, item: 0, turn: null, signals: event.signals ?? {}, rationale: null }, ...ofTurns];
}
