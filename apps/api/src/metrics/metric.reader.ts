import type { Confined } from '#lib/access';
import type { MetricPoint } from './metric-series.object.js';

/** Every point of a metric of each run, ascending; of a step that was recorded twice the later one. */
export function metricPoints(db: Confined, runIds: readonly string[], name: string) {
  return db.query<MetricPoint & { of: string }>(
    `select distinct on (run_id, training_step) run_id as "of", training_step as "trainingStep", value
     from metric_point where run_id = any ($1) and name = $2 and superseded_at is null
     order by run_id, training_step, position desc`,
    [runIds, name],
  );
}
