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
import { FileMemory, type Pool, type Queryable, type SegmentStore } from '#lib/storage';
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

/** Training steps that begin in one segment, which is opened once for all of them. */
export interface Stretch<Of extends Step = Step> {
  readonly steps: readonly Of[];
  /** [trainingStep] its rows in segments */
  readonly slices: ReadonlyMap<number, readonly SegmentSlice[]>;
}

/** A stretch is the unit of work of a thread, and what is lost with one. */
const STEPS_OF_STRETCH = 32;

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
  const stretches: { steps: Of[]; begins: string | null }[] = [];
  for (const step of steps) {
    const own = slices.get(step.trainingStep) ?? [];
    const begins = isWhole(step, own) ? (own[0]?.numericKey ?? null) : null;
    const last = stretches.at(-1);
    if (begins !== null && last?.begins === begins && last.steps.length < most) last.steps.push(step);
    else stretches.push({ steps: [step], begins });
  }
  return stretches.map((stretch) => ({ steps: stretch.steps, slices }));
}

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

/** Segments of a store, each opened once for as long as this is kept. */
export class OpenSegments {
  readonly #segments = new Map<string, Promise<Segment>>();
  readonly #memory = memory.lend();

  /** @param withTokens false: nobody asks for the values of tokens, which are most of a segment */
  constructor(
    private readonly store: SegmentStore,
    private readonly withTokens = true,
  ) {}

  /** The trajectories of a source. Texts are decoded where somebody reads them. */
  async trajectoriesOf(source: StepSource): Promise<TrajectoryBatch> {
    if (source.kind === 'batch') return source.trajectories;
    const { trainingStep, asOf, from, files, annotations } = source;
    const segments = await Promise.all(files.map((file) => this.#open(file)));
    return withOwnTexts(stepBatch(segments, { trainingStep, asOf, from, annotations }));
  }

  /** Lets their memory be used again: nobody looks at any of these trajectories any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#segments.values());
    this.#memory.giveBack();
  }

  #open({ numericKey, textKey }: SegmentFiles): Promise<Segment> {
    const known = this.#segments.get(numericKey);
    if (known) return known;
    const opened = this.#read({ numericKey, textKey });
    this.#segments.set(numericKey, opened);
    return opened;
  }

  async #read({ numericKey, textKey }: SegmentFiles): Promise<Segment> {
    const { allocate } = this.#memory;
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
