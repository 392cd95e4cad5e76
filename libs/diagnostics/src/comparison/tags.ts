import type { TrajectoryBatch } from '#lib/dataset';
import { sortedEntries, type Entries } from './sums.js';

/** A text signal of trajectories that says of which kind each is: its task type, its data set. */
export interface Tag {
  /** what it says of some trajectory, of any that was seen; null: too many different things to be a kind */
  readonly values: readonly string[] | null;
  /** [trajectories] index into `values`; -1: not said */
  readonly of: Int32Array;
}

/** A text that says more different things than that is no tag: it tells trajectories apart, and not kinds of them. */
export const MAX_TAG_VALUES = 16;
/** Text signals that are looked at, the first by name. */
const MAX_TAGS = 16;

/** The text signals of trajectories, by name; what an annotator said under their own name is none. */
export function tagsOf({ columns, ids }: TrajectoryBatch): Entries<Tag> {
  const texts = [...columns].flatMap(([path, column]) =>
    path.startsWith('trajectory.') && !path.includes('@') && column.kind === 'text'
      ? [[path.slice(11), column.values] as const]
      : [],
  );
  return sortedEntries(texts)
    .slice(0, MAX_TAGS)
    .map(([name, said]) => {
      const values = distinct(said);
      return [name, { values, of: values ? indices(said, values) : new Int32Array(ids.length).fill(-1) }] as const;
    });
}

/** Sorted; null: too many. */
function distinct(said: Iterable<string | null>): string[] | null {
  const values = new Set<string>();
  for (const value of said) if (value !== null && values.add(value).size > MAX_TAG_VALUES) return null;
  return [...values].sort();
}

function indices(said: readonly (string | null)[], values: readonly string[]): Int32Array {
  return Int32Array.from(said, (value) => (value === null ? -1 : values.indexOf(value)));
}

/**
 * The tags of several sets of trajectories under each other. What is too much in one of them is in the whole; one that a
 * set lacks is not said there.
 *
 * @param counts [sets] trajectories
 */
export function joinTags(parts: readonly Entries<Tag>[], counts: readonly number[]): Entries<Tag> {
  const byName = parts.map((part) => new Map(part));
  const names = new Set(parts.flatMap((part) => part.map(([name]) => name)));
  return [...names]
    .sort()
    .slice(0, MAX_TAGS)
    .map((name) => {
      const tags = byName.map((part) => part.get(name));
      const isTooMuch = tags.some((tag) => tag?.values === null);
      const values = isTooMuch ? null : distinct(tags.flatMap((tag) => tag?.values ?? []));
      const said = tags.flatMap((tag, p) =>
        tag?.values ? Array.from(tag.of, (at) => tag.values![at] ?? null) : new Array<null>(counts[p]).fill(null),
      );
      return [name, { values, of: values ? indices(said, values) : new Int32Array(said.length).fill(-1) }] as const;
    });
}
