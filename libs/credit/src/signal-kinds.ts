import { jsonValues, numbers, type NumericValues, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';

/** Of a signal that is no number: 'text', or the schema that its JSON values have. */
export type SignalKind = 'text' | z.ZodType;

export type SignalKinds = { readonly [Path in SignalPath]?: SignalKind };

/** One text per row; null: not said. */
export type TextValues = readonly (string | null)[];

/** What an estimator gets for a signal: numbers, unless its kind says otherwise. */
export type ValuesOf<Kinds extends SignalKinds, Path extends SignalPath> = Path extends keyof Kinds
  ? Kinds[Path] extends 'text'
    ? TextValues
    : Kinds[Path] extends z.ZodType
      ? readonly (z.infer<Kinds[Path]> | null)[]
      : NumericValues
  : NumericValues;

/** A flag inside a JSON value, in either spelling; flags that are signals of their own are numbers already. */
export const Flag = z.union([z.boolean(), z.literal([0, 1])]).transform(Number);

/** The values of a signal as an estimator reads it. */
export type SignalValues = NumericValues | readonly unknown[];

/**
 * A signal in the kind that an estimator asks for. A value of another kind, or one that its schema refuses, is not said
 * (null), so that it is counted as missing rather than read as something else.
 *
 * @returns [rows of its level], or null where the batch has nothing of that name
 */
export function signalValues(
  trajectories: TrajectoryBatch,
  path: SignalPath,
  kind: SignalKind | undefined,
): SignalValues | null {
  if (kind === undefined) return numbers(trajectories, path);
  const column = trajectories.columns.get(path);
  if (!column) return null;
  if (kind === 'text') return column.kind === 'text' ? column.values : jsonValues(column).map(textOrNull);
  return jsonValues(column).map((value) => (value === null ? null : parsedOrNull(kind, value)));
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function parsedOrNull(schema: z.ZodType, value: unknown): unknown {
  return schema.safeParse(value).data ?? null;
}
