import { isDeeperThan, MAX_DEPTH, shown, type TrajectoryRecord } from '#lib/protocol';
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

/** A reader of records of one shape, or of one that each record tells; what has another is skipped with what was expected. */
export function readerOf<Shape extends z.ZodType>(
  shape: Shape | ((record: unknown) => Shape),
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
      const shaped = (typeof shape === 'function' ? shape(record.value) : shape).safeParse(record.value);
      if (!shaped.success) {
        yield { kind: 'skipped', where, why: problemOf(shaped.error, record.value) };
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

const MAX_ISSUES = 3;

/** What was wanted and found where, of the first few places. */
function problemOf(error: z.ZodError, record: unknown): string {
  const issues = error.issues.slice(0, MAX_ISSUES).map((issue) => {
    const place = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
    return `${place}${wantedBy(issue)}, found ${shown(valueAt(record, issue.path))}`;
  });
  const more = error.issues.length - issues.length;
  return issues.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

function wantedBy(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') {
    return issue.message.replace(/^Invalid (input|option): /, '').replace(/, received \w+$/, '');
  }
  const kinds = issue.errors.flat().flatMap((each) => ('expected' in each ? [String(each.expected)] : []));
  return `expected ${[...new Set(kinds)].join(' or ') || 'another value'}`;
}

function valueAt(record: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[name] : undefined,
    record,
  );
}
