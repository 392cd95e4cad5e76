import { isDeeperThan, MAX_DEPTH, type TrajectoryRecord } from '#lib/protocol';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Reader, SourceEvent, SourceFile } from './importer.js';
import { readRecords, type FileRecord } from './read-records.js';

/** What an importer makes of one record. */
export type Said =
  { readonly trajectory: TrajectoryRecord } | { readonly event: SourceEvent } | { readonly skipped: string };

/** The file that a record stands in. */
export interface Place {
  readonly path: string;
  /** names the file by its first record, for ids where records do not say whose they are */
  readonly fileKey: string;
}

/** A reader of records that all have one shape; what has another is skipped with what was expected. */
export function readerOf<Shape extends z.ZodType>(
  shape: Shape,
  say: (record: z.infer<Shape>, place: Place) => Iterable<Said>,
  records: (file: SourceFile) => AsyncGenerator<FileRecord> = readRecords,
): Reader {
  return async function* (file) {
    let fileKey = '';
    for await (const record of records(file)) {
      const { where } = record;
      if ('why' in record) {
        yield { kind: 'skipped', where, why: record.why };
        continue;
      }
      const { raw } = record;
      fileKey ||= createHash('sha256').update(raw).digest('hex').slice(0, 8);
      if (isDeeperThan(record.value, MAX_DEPTH)) {
        yield { kind: 'skipped', where, why: `nested deeper than ${MAX_DEPTH} levels` };
        continue;
      }
      const shaped = shape.safeParse(record.value);
      if (!shaped.success) {
        yield { kind: 'skipped', where, why: problemOf(shaped.error) };
        continue;
      }
      for (const said of say(shaped.data, { path: file.path, fileKey })) {
        if ('trajectory' in said) yield { kind: 'trajectory', where, raw, trajectory: said.trajectory };
        else if ('event' in said) yield { kind: 'event', where, raw, event: said.event };
        else yield { kind: 'skipped', where, why: said.skipped };
      }
    }
  };
}

export function problemOf(error: z.ZodError): string {
  return z.prettifyError(error).replaceAll('\n', ' ');
}
