import { meantInstead, RecreditError } from '#lib/kernel';
import type { TrajectoryRecord } from '#lib/protocol';
import { z } from 'zod';
import type { Glimpse } from './glimpse.js';

/** A file to be read: its bytes decompressed, a piece at a time, so that it may be larger than memory. */
export interface SourceFile {
  /** as the user named it */
  readonly path: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** those that the same reader reads after it */
  readonly later?: readonly string[];
}

/** One record of a file. `where` is a line or an index, for a person; `raw` are the record's own bytes. */
export type Parsed =
  | {
      readonly kind: 'trajectory';
      readonly where: string;
      readonly raw: Uint8Array;
      readonly trajectory: TrajectoryRecord;
    }
  | { readonly kind: 'event'; readonly where: string; readonly raw: Uint8Array; readonly event: SourceEvent }
  | { readonly kind: 'skipped'; readonly where: string; readonly why: string };

export type SourceEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** Reads the files of one import, one after the other; what an earlier file said may explain a later one. */
export type Reader = (file: SourceFile) => AsyncIterable<Parsed>;

/** Reads one format. The same bytes give the same records, whenever and wherever they are read. */
export interface Importer {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** What a user may say about a file that the file does not say itself. */
  readonly settings: z.ZodObject;
  /** Parquet is read at many places at once, everything else from the start to the end. */
  readonly container: 'text' | 'parquet';
  /** So general that it is meant only where no other format is. */
  readonly isGeneral: boolean;
  /** Why a file that begins like this may be of this format; null: it is not. */
  recognizes(glimpse: Glimpse): string | null;
  /** Whether a file that begins like this only adds to other files of its import, which are to be read before it. */
  addsToOthers(glimpse: Glimpse): boolean;
  /** What the name of a file says that its bytes do not; two files of equal bytes that differ here are two sources. */
  nameSays(path: string): string;
  /** @throws RecreditError `usage.wrong` for a setting that is not there or cannot be meant */
  reader(settings?: Readonly<Record<string, unknown>>): Reader;
}

/** What may be said about the files of every format. */
const EVERY_FORMAT = {
  turnRewards: z
    .literal('outcome')
    .optional()
    .describe('outcome: where no turn says a reward, the last one gets the outcome reward and the others 0'),
  successAt: z.coerce
    .number()
    .optional()
    .describe('a trajectory is successful from this outcome reward on, whatever the file says'),
};

interface Definition<Settings extends z.ZodObject> {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly settings?: Settings;
  readonly container?: 'text' | 'parquet';
  readonly isGeneral?: boolean;
  readonly recognizes: (glimpse: Glimpse) => string | null;
  readonly addsToOthers?: (glimpse: Glimpse) => boolean;
  readonly nameSays?: (path: string) => string;
  readonly reader: (settings: z.infer<Settings>) => Reader;
}

export function defineImporter<Settings extends z.ZodObject = z.ZodObject>(definition: Definition<Settings>): Importer {
  const { container = 'text', isGeneral = false, addsToOthers = () => false, nameSays = () => '' } = definition;
  const own = definition.settings ?? z.strictObject({});
  const settings = z.strictObject({ ...own.shape, ...EVERY_FORMAT });
  return {
    ...definition,
    settings,
    container,
    isGeneral,
    addsToOthers,
    nameSays,
    reader(given = {}) {
      const { turnRewards, successAt, ...theirs } = settingsOf(definition.id, settings, given);
      const read = definition.reader(theirs as z.infer<Settings>);
      if (turnRewards === undefined && successAt === undefined) return read;
      return (file) => changed(read(file), (trajectory) => judged(rewarded(trajectory, turnRewards), successAt));
    },
  };
}

async function* changed(records: AsyncIterable<Parsed>, change: (trajectory: TrajectoryRecord) => TrajectoryRecord) {
  for await (const parsed of records) {
    yield parsed.kind === 'trajectory' ? { ...parsed, trajectory: change(parsed.trajectory) } : parsed;
  }
}

function rewarded(trajectory: TrajectoryRecord, turnRewards: 'outcome' | undefined): TrajectoryRecord {
  const { turns, outcomeReward } = trajectory;
  if (turnRewards === undefined || outcomeReward === undefined || outcomeReward === null) return trajectory;
  if (turns.some(({ reward }) => reward !== undefined)) return trajectory;
  const last = turns.length - 1;
  return { ...trajectory, turns: turns.map((turn, t) => ({ ...turn, reward: t === last ? outcomeReward : 0 })) };
}

function judged(trajectory: TrajectoryRecord, successAt: number | undefined): TrajectoryRecord {
  const { outcomeReward } = trajectory;
  if (successAt === undefined || outcomeReward === undefined || outcomeReward === null) return trajectory;
  return { ...trajectory, success: outcomeReward >= successAt };
}

function settingsOf<Settings extends z.ZodObject>(
  format: string,
  settings: Settings,
  given: Readonly<Record<string, unknown>>,
): z.infer<Settings> {
  const known = Object.keys(settings.shape);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new RecreditError('usage.wrong', `${format} has no setting ${unknown}${meantInstead(unknown, known)}`);
  }
  const parsed = settings.safeParse(given);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0];
  throw new RecreditError('usage.wrong', `setting ${path.join('.')} of ${format}: ${message}`);
}
