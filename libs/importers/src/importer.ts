import type { TrajectoryRecord } from '#lib/protocol';

/** A file to be read: its bytes decompressed, a piece at a time, so that it may be larger than memory. */
export interface SourceFile {
  /** as the user named it */
  readonly path: string;
  readonly bytes: AsyncIterable<Uint8Array>;
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

/** Reads one format. The same bytes give the same records, whenever and wherever they are read. */
export interface Importer {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  read(file: SourceFile): AsyncIterable<Parsed>;
}
