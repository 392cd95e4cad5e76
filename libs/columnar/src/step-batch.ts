import {
  concatTrajectories,
  joinAnnotations,
  laterTexts,
  sliceTrajectories,
  type Annotation,
  type Texts,
  type TrajectoryBatch,
} from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { wordsOf, type Segment } from './open-segment.js';

/** Which trajectories of a run a shard speaks of. */
export interface StepQuery {
  readonly trainingStep: number;
  /** position: what ended there or later is not seen */
  readonly asOf: number;
  /** position: what ended before it is not seen, because the run was rewound there */
  readonly from?: number;
  /** of this run; those at `asOf` or later are not seen */
  readonly annotations?: readonly Annotation[];
}

export interface RowRange {
  readonly firstRow: number;
  readonly rowCount: number;
}

/** The rows that a query takes from a segment: contiguous, because they lie by (trainingStep, end position). */
export function rowsOfStep({ steps, endPosition }: Segment, { trainingStep, asOf, from = 0 }: StepQuery): RowRange {
  const step = steps.find((candidate) => candidate.trainingStep === trainingStep);
  if (!step) return { firstRow: 0, rowCount: 0 };
  const ends = endPosition.subarray(step.firstRow, step.firstRow + step.rowCount);
  const first = countBelow(ends, from);
  return { firstRow: step.firstRow + first, rowCount: Math.max(countBelow(ends, asOf) - first, 0) };
}

/**
 * The trajectories of one training step over the segments of a run, in the order in which they ended, with annotations
 * joined in. Equal texts have equal keys, whichever segment they lie in. Where all rows lie in one segment nothing is
 * copied but offsets; texts are there where every segment has its own.
 */
export function stepBatch(segments: readonly Segment[], query: StepQuery): TrajectoryBatch {
  const parts = segments
    .map((segment) => ({ segment, ...rowsOfStep(segment, query) }))
    .filter(({ rowCount }) => rowCount > 0)
    .toSorted((a, b) => firstEnd(a) - firstEnd(b));
  assertInOrder(parts);
  const trajectories = parts.length === 1 ? sliceOf(parts[0]) : joinParts(parts);
  const annotations = query.annotations?.filter(({ position }) => position < query.asOf) ?? [];
  return joinAnnotations(trajectories, annotations);
}

interface Part extends RowRange {
  readonly segment: Segment;
}

const firstEnd = ({ segment, firstRow }: Part) => segment.endPosition[firstRow];
const lastEnd = ({ segment, firstRow, rowCount }: Part) => segment.endPosition[firstRow + rowCount - 1];

const sliceOf = ({ segment, firstRow, rowCount }: Part) => sliceTrajectories(segment.trajectories, firstRow, rowCount);

/** How many of the rising values lie below a bound. */
function countBelow(rising: Float64Array, bound: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A segment takes all that had ended at its cut, so the ends of two never interleave, unless one is there twice. */
function assertInOrder(parts: readonly Part[]): void {
  for (let i = 1; i < parts.length; i++) {
    const [end, next] = [lastEnd(parts[i - 1]), firstEnd(parts[i])];
    if (next > end) continue;
    throw new RecreditError(
      'segment.damaged',
      `segments overlap: one ends at position ${end}, the next starts at ${next}`,
    );
  }
}

function joinParts(parts: readonly Part[]): TrajectoryBatch {
  const states = new Interning();
  const actions = new Interning();
  const slices = parts.map((part, p) => {
    const { stateHashes, actionHashes } = part.segment;
    const slice = sliceOf(part);
    return {
      ...slice,
      stateKey: states.intern(slice.stateKey, stateHashes, p),
      actionKey: actions.intern(slice.actionKey, actionHashes, p),
    };
  });
  const said = slices.flatMap(({ texts }) => texts ?? []);
  const texts: Texts | null =
    said.length < slices.length
      ? null
      : laterTexts(
          () => states.firsts.map(({ part, key }) => said[part].states[key]),
          () => actions.firsts.map(({ part, key }) => said[part].actions[key]),
          () => ({ states: states.hashes(), actions: actions.hashes() }),
        );
  const joined = concatTrajectories(slices, texts);
  return { ...joined, parentOf: linkParents(joined, parts) };
}

/** One numbering for the keys of several segments, by the hash of the text. */
class Interning {
  /** [own key] where it was first seen */
  readonly firsts: { readonly part: number; readonly key: number }[] = [];
  private readonly keyOf = new Map<bigint, number>();

  intern(keys: Int32Array, hashes: BigUint64Array, part: number): Int32Array {
    const known = new Int32Array(hashes.length).fill(-1);
    return keys.map((key) => {
      if (key < 0) return -1;
      if (known[key] < 0) known[key] = this.number(hashes[key], part, key);
      return known[key];
    });
  }

  hashes(): Uint32Array {
    return wordsOf(BigUint64Array.from(this.keyOf.keys()));
  }

  private number(hash: bigint, part: number, key: number): number {
    const known = this.keyOf.get(hash);
    if (known !== undefined) return known;
    this.keyOf.set(hash, this.firsts.length);
    return this.firsts.push({ part, key }) - 1;
  }
}

/** A branch may have ended after a cut that its parent came before. */
function linkParents({ ids, parentOf }: TrajectoryBatch, parts: readonly Part[]): Int32Array {
  const parents = parts.flatMap(({ segment, firstRow, rowCount }) =>
    segment.parents.slice(firstRow, firstRow + rowCount),
  );
  if (parents.every((parent) => parent === null)) return parentOf;
  const rowOf = new Map(ids.map((id, row) => [id, row]));
  return Int32Array.from(parents, (parent) => (parent === null ? -1 : (rowOf.get(parent) ?? -1)));
}
