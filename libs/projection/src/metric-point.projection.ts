import type { RunEvent } from '#lib/protocol';
import type { ReadModel } from './read-model.js';
import { storable } from './storable.js';

export interface MetricPointRow {
  readonly name: string;
  readonly trainingStep: number;
  readonly position: number;
  /** null: could not be measured */
  readonly value: number | null;
  readonly recordedAt: Date;
}

export const metricPointModel: ReadModel<MetricPointRow> = {
  table: 'metric_point',
  key: ['name', 'trainingStep', 'position'],
  columns: {
    name: 'text',
    trainingStep: 'integer',
    position: 'bigint',
    value: 'double precision',
    recordedAt: 'timestamptz',
  },
};

/** One point per metric. A step recorded again gives further points: the one with the highest position is the last word. */
export function metricPoints(
  { trainingStep, metrics }: Extract<RunEvent, { type: 'trainingStep.recorded' }>,
  position: number,
  recordedAt: Date,
): MetricPointRow[] {
  const values = new Map(Object.entries(metrics).map(([name, value]) => [storable(name), value]));
  return [...values].map(([name, value]) => ({ name, trainingStep, position, value, recordedAt }));
}
