import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encodeSegment } from '#lib/columnar';
import type { TrajectoryBatch } from '#lib/dataset';
import { openPool, openSegmentStore, type Pool, type SegmentStore } from '#lib/storage';
import { withDatabase } from './bench-database.js';
import { MADE_METRICS, madeStep } from './made-step.js';

/** About what a segment holds. */
const TURNS_OF_SEGMENT = 20_000;
const TURNS_OF_TRAJECTORY = 10;
const AT_ONCE = 32;

/** A run that is projected and was never diagnosed. */
export interface DiagnosedRun {
  readonly pool: Pool;
  readonly store: SegmentStore;
  /** URL of the store */
  readonly segments: string;
  readonly id: string;
  readonly steps: number;
  readonly turns: number;
  /** all that is projected */
  readonly asOf: number;
  readonly files: readonly { readonly numericKey: string; readonly textKey: string }[];
}

/** Of which size a run is. */
export interface RunSize {
  readonly steps: number;
  readonly turnsOfStep: number;
  readonly tokensOfTurn: number;
}

/**
 * A run as the projector leaves it, for as long as `work` takes: segments of several training steps on disk, and their
 * index, trajectories and metrics in a database. It did not come through the log, which takes far longer than all else.
 */
export function withDiagnosedRun<T>(size: RunSize, work: (run: DiagnosedRun) => Promise<T>): Promise<T> {
  return withDatabase(async (url) => {
    const folder = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
    const pool = openPool(url, { size: 16, applicationName: 'recredit bench' });
    try {
      const segments = pathToFileURL(folder).href;
      const store = await openSegmentStore(segments);
      return await work({ pool, store, segments, ...(await storeRun(pool, store, size)) });
    } finally {
      await pool.end();
      await rm(folder, { recursive: true, force: true });
    }
  });
}

async function storeRun(pool: Pool, store: SegmentStore, { steps, turnsOfStep, tokensOfTurn }: RunSize) {
  const id = 'bench';
  const perStep = turnsOfStep / TURNS_OF_TRAJECTORY;
  const perSegment = Math.max(1, Math.round(TURNS_OF_SEGMENT / turnsOfStep));
  // one position for each trajectory, and one for the metrics of its step
  const asOf = steps * (perStep + 1);
  await pool.query(`insert into project (id, name) values ('bench', 'bench')`);
  await pool.query(`insert into run (id, project_id, name) values ($1, 'bench', 'bench')`, [id]);
  await storeRows(pool, id, steps, perStep);
  const made = madeStep(perSegment * turnsOfStep, tokensOfTurn);
  await storeSignals(pool, id, [...made.columns.keys()]);
  const files = [];
  for (let ordinal = 0; ordinal * perSegment < steps; ordinal++) {
    const [first, last] = [ordinal * perSegment, Math.min(steps, (ordinal + 1) * perSegment) - 1];
    const rows = ofSegment(made, first, perStep);
    const { numeric, text } = encodeSegment(
      rows,
      Float64Array.from(rows.trainingStep, (step, i) => i + first * perStep + step),
    );
    const keys = { numericKey: `bench/${ordinal}.numeric.arrow`, textKey: `bench/${ordinal}.text.arrow` };
    await store.put(keys.numericKey, numeric);
    await store.put(keys.textKey, text);
    await storeSegment(pool, id, { ordinal, first, last, perStep, ...keys });
    files.push(keys);
  }
  await pool.query('analyze');
  return { id, steps, turns: steps * turnsOfStep, asOf, files };
}

/** The same trajectories again, as those of later training steps. */
function ofSegment(made: TrajectoryBatch, firstStep: number, perStep: number): TrajectoryBatch {
  return {
    ...made,
    ids: made.ids.map((_, i) => `t${firstStep * perStep + i}`),
    trainingStep: made.trainingStep.map((_, i) => firstStep + Math.floor(i / perStep)),
  };
}

interface SegmentRow {
  readonly ordinal: number;
  readonly first: number;
  readonly last: number;
  readonly perStep: number;
  readonly numericKey: string;
  readonly textKey: string;
}

async function storeSegment(pool: Pool, run: string, row: SegmentRow): Promise<void> {
  const { ordinal, first, last, perStep, numericKey, textKey } = row;
  const count = (last - first + 1) * perStep;
  await pool.query(
    `insert into segment (run_id, ordinal, first_step, last_step, end_position, trajectory_count, turn_count,
       numeric_key, numeric_sha256, text_key, text_sha256, bytes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, sha256('unread'), $9, sha256('unread'), 0)`,
    [run, ordinal, first, last, (last + 1) * (perStep + 1), count, count * TURNS_OF_TRAJECTORY, numericKey, textKey],
  );
  await pool.query(
    `insert into segment_step (run_id, training_step, ordinal, first_row, row_count, end_positions, turn_counts)
     select $1, step, $2, (step - $3::int) * $5::int, $5::int,
       array(select (step * ($5::int + 1) + i)::bigint from generate_series(0, $5::int - 1) as i order by i),
       array_fill(${TURNS_OF_TRAJECTORY}, array[$5::int])
     from generate_series($3::int, $4::int) as step`,
    [run, ordinal, first, last, perStep],
  );
}

/** Who measures asks whether the run has tokens. */
async function storeSignals(pool: Pool, run: string, paths: readonly string[]): Promise<void> {
  await pool.query(
    `insert into signal_summary (run_id, source, level, name, rows, numbers, sum)
     select $1, 'recorded', split_part(path, '.', 1), split_part(path, '.', 2), 1, 0, 0 from unnest($2::text[]) as path`,
    [run, paths],
  );
}

async function storeRows(pool: Pool, run: string, steps: number, perStep: number): Promise<void> {
  await pool.query(
    `insert into run_progress (run_id, state, position, last_event_at, training_step_max, trajectory_count, finished_count,
       incomplete_count, superseded_count, turn_count, success_count, outcome_count, outcome_sum, group_count,
       annotation_count, judged_count)
     values ($1, 'completed', $2, now(), $3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
    [run, steps * (perStep + 1), steps - 1],
  );
  for (let first = 0; first < steps; first += AT_ONCE) {
    await pool.query(
      `insert into trajectory (run_id, first_position, id, training_step, group_name, state, turn_count, contiguous_turns,
         turn_positions, recorded_position, end_position, last_position, bytes)
       select $1, step * ($4::int + 1) + i, 't' || step * $4::int + i, step, 'task-' || i / 8, 'finished',
         ${TURNS_OF_TRAJECTORY}, ${TURNS_OF_TRAJECTORY}, '{}', step * ($4::int + 1) + i, step * ($4::int + 1) + i,
         step * ($4::int + 1) + i, 1000
       from generate_series($2::int, $3::int) as step, generate_series(0, $4::int - 1) as i`,
      [run, first, Math.min(steps, first + AT_ONCE) - 1, perStep],
    );
  }
  await pool.query(
    `insert into metric_point (run_id, name, training_step, position, value)
     select $1, name, step, step * ($3::int + 1) + $3::int, value::float8
     from generate_series(0, $2::int - 1) as step, json_each_text($4::json) as metric (name, value)`,
    [run, steps, perStep, JSON.stringify(MADE_METRICS)],
  );
}
