import { openSegment, readHead, stepBatch, type Segment } from '#lib/columnar';
import { joinAnnotations, trajectoryBatch, withOwnTexts, type Annotation, type TrajectoryBatch } from '#lib/dataset';
import { assertNotErased } from '#lib/event-log';
import { messageOf, RecreditError } from '#lib/kernel';
import {
  annotationsOf,
  finishedRecords,
  projectedPosition,
  segmentSlices,
  type SegmentSlice,
  type StepRange,
} from '#lib/projection';
import { FileMemory, type LentMemory, type Pool, type Queryable, type SegmentStore } from '#lib/storage';
import type { StepRevision } from './step-revisions.js';

interface SegmentFiles {
  readonly numericKey: string;
  readonly textKey: string;
}

/** Where the trajectories of one training step are to be had. It travels to a thread as it is. */
export type StepSource =
  | {
      readonly kind: 'segments';
      readonly trainingStep: number;
      readonly asOf: number;
      readonly from: number;
      readonly files: readonly SegmentFiles[];
      readonly annotations: readonly Annotation[];
    }
  | { readonly kind: 'batch'; readonly trajectories: TrajectoryBatch };

/** A training step whose trajectories are looked at. */
type Step = Pick<StepRevision, 'trainingStep' | 'trajectoryCount'>;

/** Neighbouring training steps: those that lie in one segment, which is opened once for all of them, and in a few after it. */
export interface Stretch<Of extends Step = Step> {
  readonly steps: readonly Of[];
  /** [trainingStep] its rows in segments */
  readonly slices: ReadonlyMap<number, readonly SegmentSlice[]>;
}

/** A stretch is the unit of work of a thread, and what is lost with one: more than messages and statements cost, and not much more. */
const STEPS_OF_STRETCH = 32;
const SEGMENTS_OF_STRETCH = 4;

/**
 * The position that a request looks at a run as of: the one it asks for, or all that is projected.
 *
 * @throws RecreditError `run.erased`, `request.invalid`
 */
export async function positionToLookAt(pool: Pool, runId: string, asked: number | undefined): Promise<number> {
  await assertNotErased(pool, [runId]);
  const head = await projectedPosition(pool, runId);
  if (asked === undefined || asked <= head) return asked ?? head;
  throw new RecreditError('request.invalid', `asOf: a position up to ${head} was wanted, found ${asked}`);
}

/**
 * Divides training steps among those who read them: neighbours in a segment stay together, as far as that leaves
 * everybody something to do. A step of which some waits for a segment is read from the log, and stands alone.
 *
 * @param steps ascending
 * @param readers how many there are
 */
export async function stretchesOf<Of extends Step>(
  db: Queryable,
  runId: string,
  asOf: number,
  steps: readonly Of[],
  readers = 1,
): Promise<Stretch<Of>[]> {
  if (steps.length === 0) return [];
  const slices = Map.groupBy(await segmentSlices(db, runId, rangeOf(steps), asOf), ({ trainingStep }) => trainingStep);
  const most = Math.min(STEPS_OF_STRETCH, Math.ceil(steps.length / readers));
  // of each stretch the segments that its steps begin in; null: it is read from the log
  const stretches: { steps: Of[]; segments: Set<string> | null }[] = [];
  for (const step of steps) {
    const own = slices.get(step.trainingStep) ?? [];
    const segment = isWhole(step, own) ? own[0]?.numericKey : undefined;
    const last = stretches.at(-1);
    if (segment !== undefined && last?.segments && last.steps.length < most && hasRoom(last.segments, segment)) {
      last.steps.push(step);
      last.segments.add(segment);
    } else stretches.push({ steps: [step], segments: segment === undefined ? null : new Set([segment]) });
  }
  return stretches.map((stretch) => ({ steps: stretch.steps, slices }));
}

const hasRoom = (segments: ReadonlySet<string>, segment: string) =>
  segments.has(segment) || segments.size < SEGMENTS_OF_STRETCH;

/** Finds the training steps of a stretch as of a position: in segments, or in the log. In the order of its steps. */
export async function sourcesOf(pool: Pool, runId: string, asOf: number, stretch: Stretch): Promise<StepSource[]> {
  const annotations = Map.groupBy(
    await annotationsOf(pool, runId, rangeOf(stretch.steps), asOf),
    ({ trainingStep }) => trainingStep,
  );
  const sources = [];
  for (const step of stretch.steps) {
    const { trainingStep } = step;
    const slices = stretch.slices.get(trainingStep) ?? [];
    const said = annotations.get(trainingStep) ?? [];
    sources.push(
      isWhole(step, slices)
        ? inSegments(trainingStep, asOf, slices, said)
        : await inLog(pool, runId, trainingStep, asOf, said),
    );
  }
  return sources;
}

/** Finds one training step as of a position. */
export async function stepSource(pool: Pool, runId: string, step: Step, asOf: number): Promise<StepSource> {
  const [stretch] = await stretchesOf(pool, runId, asOf, [step]);
  const [source] = await sourcesOf(pool, runId, asOf, stretch);
  return source;
}

/** All that the step has lies in segments. */
function isWhole({ trajectoryCount }: Step, slices: readonly SegmentSlice[]): boolean {
  return slices.reduce((sum, { rowCount }) => sum + rowCount, 0) === trajectoryCount;
}

function inSegments(
  trainingStep: number,
  asOf: number,
  slices: readonly SegmentSlice[],
  annotations: readonly Annotation[],
): StepSource {
  const files = slices.map(({ numericKey, textKey }) => ({ numericKey, textKey }));
  return { kind: 'segments', trainingStep, asOf, from: slices[0]?.from ?? 0, files, annotations };
}

async function inLog(
  pool: Pool,
  runId: string,
  trainingStep: number,
  asOf: number,
  annotations: readonly Annotation[],
): Promise<StepSource> {
  const records = [];
  const step = { first: trainingStep, last: trainingStep };
  for await (const page of finishedRecords(pool, runId, step, { asOf })) records.push(...page);
  return { kind: 'batch', trajectories: joinAnnotations(trajectoryBatch(records), annotations) };
}

const rangeOf = (steps: readonly Step[]): StepRange => ({
  first: steps[0].trainingStep,
  last: steps.at(-1)!.trainingStep,
});

/** Files of segments lie in memory that is used again; what is kept unused, at most, in each thread. */
const memory = new FileMemory(16 * 2 ** 20);

interface OpenSegment {
  readonly segment: Promise<Segment>;
  readonly memory: LentMemory;
}

/** Segments of a store, each opened once where the training steps that lie in it are asked for one after the other. */
export class OpenSegments {
  readonly #open = new Map<string, OpenSegment>();

  /** @param withTokens false: nobody asks for the values of tokens, which are most of a segment */
  constructor(
    private readonly store: SegmentStore,
    private readonly withTokens = true,
  ) {}

  /**
   * The trajectories of a source. Texts are decoded where somebody reads them. Segments that it does not lie in are closed:
   * nobody looks at trajectories of theirs any more.
   */
  async trajectoriesOf(source: StepSource): Promise<TrajectoryBatch> {
    if (source.kind === 'batch') return source.trajectories;
    const { trainingStep, asOf, from, files, annotations } = source;
    const closed = this.close(files);
    const opened = files.map((file) => this.#segment(file));
    const [segments] = await Promise.all([Promise.all(opened), closed]);
    return withOwnTexts(stepBatch(segments, { trainingStep, asOf, from, annotations }));
  }

  /** Lets the memory of segments be used again, but of those that are to be kept. */
  async close(kept: readonly SegmentFiles[] = []): Promise<void> {
    for (const [key, { segment, memory }] of this.#open) {
      if (kept.some(({ numericKey }) => numericKey === key)) continue;
      this.#open.delete(key);
      await Promise.allSettled([segment]);
      memory.giveBack();
    }
  }

  #segment(files: SegmentFiles): Promise<Segment> {
    const known = this.#open.get(files.numericKey);
    if (known) return known.segment;
    const lent = memory.lend();
    const segment = this.#read(files, lent);
    this.#open.set(files.numericKey, { segment, memory: lent });
    return segment;
  }

  async #read({ numericKey, textKey }: SegmentFiles, { allocate }: LentMemory): Promise<Segment> {
    const read = (key: string) =>
      this.withTokens ? this.store.get(key, allocate) : readHead(this.store, key, allocate);
    const files = [numericKey, textKey].map(read);
    // whichever fails, no other is still read into memory that is given back
    await Promise.allSettled(files);
    const [numeric, text] = await Promise.all(files);
    try {
      return openSegment(numeric, text);
    } catch (error) {
      // whoever mends it has to know which of them it is
      const why = `${numericKey} and ${textKey}: ${messageOf(error)}`;
      throw new RecreditError('segment.damaged', why, { numericKey, textKey }, { cause: error });
    }
  }
}
