import { jsonValues } from './concat.js';
import { levelOf, rowCount, type SignalColumn, type SignalPath, type TrajectoryBatch } from './trajectory-batch.js';

/** Signals that one annotator gave to one trajectory (turn: null) or one of its turns. */
export interface Annotation {
  /** of its event; later ones win */
  readonly position: number;
  readonly trajectory: string;
  readonly turn: number | null;
  readonly annotator: string;
  readonly attempt: number;
  readonly signals: Readonly<Record<string, unknown>>;
}

/**
 * Joins annotations in. A signal stands under its plain name, where the annotation of the latest position wins, over
 * another annotator's and over what the trainer said (null takes it back); and as an individual vote under
 * `name@annotator`, for attempts after the first `name@annotator#attempt`. What speaks of no row here is left out.
 */
export function joinAnnotations(trajectories: TrajectoryBatch, annotations: readonly Annotation[]): TrajectoryBatch {
  if (annotations.length === 0) return trajectories;
  const said = saidBy(trajectories, annotations);
  const columns = new Map(trajectories.columns);
  for (const [path, values] of said) {
    columns.set(path, overlay(columns.get(path), values, rowCount(trajectories, levelOf(path))));
  }
  return { ...trajectories, columns };
}

/** Per column the values that annotations give to its rows. */
function saidBy(trajectories: TrajectoryBatch, annotations: readonly Annotation[]) {
  const rowOf = new Map(trajectories.ids.map((id, row) => [id, row]));
  const said = new Map<SignalPath, Map<number, unknown>>();
  const say = (path: SignalPath, row: number, value: unknown) => {
    const values = said.get(path) ?? new Map<number, unknown>();
    said.set(path, values.set(row, value));
  };
  for (const { trajectory, turn, annotator, attempt, signals } of annotations.toSorted(byPosition)) {
    const row = rowOf.get(trajectory);
    const target = row === undefined ? -1 : turn === null ? row : turnRow(trajectories, row, turn);
    if (target < 0) continue;
    const level = turn === null ? 'trajectory' : 'turn';
    for (const [name, value] of Object.entries(signals)) {
      say(`${level}.${name}`, target, value);
      say(`${level}.${name}@${annotator}${attempt > 0 ? `#${attempt}` : ''}`, target, value);
    }
  }
  return said;
}

const byPosition = (a: Annotation, b: Annotation) => a.position - b.position;

function turnRow({ turnOffsets }: TrajectoryBatch, row: number, turn: number): number {
  const at = turnOffsets[row] + turn;
  return turn >= 0 && at < turnOffsets[row + 1] ? at : -1;
}

/** The column with some of its rows said anew. The old column may view a segment and is not touched. */
function overlay(column: SignalColumn | undefined, said: ReadonlyMap<number, unknown>, rows: number): SignalColumn {
  const every = (...types: string[]) => said.values().every((value) => value === null || types.includes(typeof value));
  if (column?.kind !== 'text' && column?.kind !== 'json' && every('number', 'boolean')) {
    const values = column ? Float64Array.from(column.values) : new Float64Array(rows).fill(NaN);
    for (const [row, value] of said) values[row] = value === null ? NaN : Number(value);
    return { kind: 'number', values };
  }
  const values = column ? [...jsonValues(column)] : new Array<unknown>(rows).fill(null);
  for (const [row, value] of said) values[row] = value ?? null;
  if ((!column || column.kind === 'text') && every('string')) return { kind: 'text', values: values as string[] };
  return { kind: 'json', values };
}
