import { canonicalJson } from '#lib/kernel';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type FileMetaData } from 'hyparquet';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { FileRecord } from './read-records.js';

/** What hyparquet leaves to others, Node has. */
const compressors = {
  GZIP: (input: Uint8Array) => gunzipSync(input),
  ZSTD: (input: Uint8Array) => zstdDecompressSync(input),
  BROTLI: (input: Uint8Array) => brotliDecompressSync(input),
};

/** The rows of a Parquet file, one row group at a time. What JSON does not have (NaN, big integers) is made of it. */
export async function* readParquet({ path }: { readonly path: string }): AsyncGenerator<FileRecord> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  let rowStart = 0;
  for (const group of rowGroups(metadata)) {
    const rowEnd = rowStart + group;
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors });
    for (const [i, row] of rows.entries()) {
      const value = jsonOf(row);
      yield { where: `${path}[${rowStart + i}]`, raw: Buffer.from(canonicalJson(value)), value };
    }
    rowStart = rowEnd;
  }
}

/** The first row, or the names of the columns where there is none. */
export async function parquetGlimpse(path: string): Promise<Record<string, unknown>> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  if (Number(metadata.num_rows) > 0) {
    const [row] = await parquetReadObjects({ file, metadata, rowStart: 0, rowEnd: 1, compressors });
    return row;
  }
  return Object.fromEntries(metadata.schema.slice(1).map(({ name }) => [name, null]));
}

function rowGroups(metadata: FileMetaData): number[] {
  return metadata.row_groups.map(({ num_rows }) => Number(num_rows));
}

function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as ArrayLike<unknown>, jsonOf);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, jsonOf(field)]));
}
