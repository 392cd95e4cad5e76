import { messageOf, RecreditError } from '#lib/kernel';
import type { Glimpse } from './glimpse.js';
import type { Importer } from './importer.js';
import { IMPORTERS } from './importers.js';
import { checkFile, isParquet, openFile } from './open-file.js';
import { parquetGlimpse } from './read-parquet.js';
import { layoutOf, peek, readElements, readRecords, type FileRecord } from './read-records.js';

export interface Detected {
  readonly importer: Importer;
  /** "its first line has task_id and trial" */
  readonly why: string;
}

/** Looked at until one of them is an object: a file may begin with a broken line. */
const MAX_LOOKED_AT = 20;
const MAX_NAMED_FIELDS = 12;

/**
 * The format of a file, by what it begins with.
 *
 * @throws RecreditError `format.unknown` where no format is recognized, or more than one is
 */
export async function detectFormat(path: string): Promise<Detected> {
  return formatOf(await glimpseOf(path));
}

/** @throws RecreditError `format.unknown` */
export function formatOf(glimpse: Glimpse): Detected {
  const recognized = IMPORTERS.flatMap((importer) => {
    const why = importer.recognizes(glimpse);
    return why === null ? [] : [{ importer, why }];
  });
  const specific = recognized.filter(({ importer }) => !importer.isGeneral);
  const candidates = specific.length > 0 ? specific : recognized;
  if (candidates.length === 1) return candidates[0];
  if (candidates.length === 0) throw unknown(glimpse);
  const named = candidates.map(({ importer, why }) => `${importer.id} (${why})`).join(' or ');
  const ids = candidates.map(({ importer }) => importer.id);
  throw new RecreditError('format.unknown', `${glimpse.path} may be ${named}: say which`, { candidates: ids });
}

function unknown({ path, first }: Glimpse): RecreditError {
  const fields = Object.keys(first);
  const shown = fields.slice(0, MAX_NAMED_FIELDS).join(', ') + (fields.length > MAX_NAMED_FIELDS ? ', ...' : '');
  const has = fields.length > 0 ? `what it begins with has ${shown}` : 'it holds no JSON object';
  const known = IMPORTERS.map(({ id }) => id).join(', ');
  return new RecreditError('format.unknown', `${path} is of no format that is recognized: ${has}; there are ${known}`, {
    known,
  });
}

/** @throws RecreditError `file.invalid` */
export async function glimpseOf(path: string): Promise<Glimpse> {
  const { head } = await checkFile(path);
  if (isParquet(head)) return { path, layout: 'parquet', first: await firstRow(path) };
  const file = await openFile(path);
  try {
    const { head: text, all } = await peek(file.bytes);
    const layout = layoutOf(text);
    const source = { path, bytes: all };
    const records = layout === 'array' ? readElements(source, null) : readRecords(source);
    return { path, layout, first: await firstObject(records) };
  } catch (error) {
    if (error instanceof RecreditError) throw error;
    return { path, layout: 'lines', first: {} }; // what cannot be decompressed says nothing
  } finally {
    file.close();
  }
}

async function firstRow(path: string): Promise<Record<string, unknown>> {
  try {
    return await parquetGlimpse(path);
  } catch (error) {
    throw new RecreditError('file.invalid', `${path} cannot be read: ${messageOf(error)}`, {}, { cause: error });
  }
}

async function firstObject(records: AsyncGenerator<FileRecord>): Promise<Record<string, unknown>> {
  let looked = 0;
  for await (const record of records) {
    const value = 'value' in record ? record.value : null;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    if (++looked >= MAX_LOOKED_AT) break;
  }
  return {};
}
