import { messageOf, RecreditError } from '#lib/kernel';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { formatOf, glimpseOf } from './detect-format.js';
import type { Importer, Parsed, Reader } from './importer.js';
import { importerOf } from './importers.js';
import { checkFile, openFile } from './open-file.js';
import type { Skipped } from './tally.js';

/** A file of an import, and how it is read. */
export interface FileToRead {
  readonly path: string;
  readonly importer: Importer;
  readonly reader: Reader;
  /** what it was recognized by; null: the user said what it is */
  readonly why: string | null;
  /** nobody named it: a folder that it lies in was, and what it cannot give is skipped */
  readonly isFromFolder: boolean;
  /** files of the same format that come after it */
  readonly later: readonly string[];
}

export interface RecognizedFile {
  readonly path: string;
  readonly format: string;
  readonly why: string | null;
}

export function described({ path, importer, why }: FileToRead): RecognizedFile {
  return { path, format: importer.id, why };
}

interface SourceFiles {
  readonly files: readonly FileToRead[];
  /** files of folders that are of no format */
  readonly skipped: readonly Skipped[];
}

/**
 * The files that were named, and those in the folders that were; files of one format share a reader, and those that
 * only add to others come after them.
 *
 * @throws RecreditError `format.unknown`, `file.invalid`, `usage.wrong`
 */
export async function sourceFiles(
  format: string,
  paths: readonly string[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<SourceFiles> {
  const named = format === 'auto' ? null : importerOf(format);
  const readers = new Map<Importer, Reader>();
  const readerOf = (importer: Importer) => {
    const reader = readers.get(importer) ?? importer.reader(settings);
    readers.set(importer, reader);
    return reader;
  };
  if (named) readerOf(named);
  const files: (Omit<FileToRead, 'later'> & { readonly isLater: boolean })[] = [];
  const skipped: Skipped[] = [];
  for (const { path, isFromFolder } of (await Promise.all(paths.map(filesIn))).flat()) {
    try {
      const glimpse = await glimpseOf(path);
      const { importer, why } = named ? { importer: named, why: null } : formatOf(glimpse);
      const isLater = importer.addsToOthers(glimpse);
      files.push({ path, importer, reader: readerOf(importer), why, isFromFolder, isLater });
    } catch (error) {
      const isOfThisFile = error instanceof RecreditError && ['format.unknown', 'file.invalid'].includes(error.code);
      if (!isFromFolder || !isOfThisFile) throw error;
      skipped.push({ where: path, why: error.message });
    }
  }
  if (files.length === 0 && skipped.length > 0) {
    throw new RecreditError('file.invalid', `none of ${skipped.length} files can be read; ${skipped[0].why}`);
  }
  const inOrder = files.toSorted((a, b) => Number(a.isLater) - Number(b.isLater));
  const after = (i: number) => inOrder.slice(i + 1).filter(({ importer }) => importer === inOrder[i].importer);
  return { files: inOrder.map((file, i) => ({ ...file, later: after(i).map(({ path }) => path) })), skipped };
}

async function filesIn(path: string): Promise<{ path: string; isFromFolder: boolean }[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [{ path, isFromFolder: false }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
  if (files.length === 0) throw new RecreditError('file.invalid', `${path} is a folder without files`);
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted(byNumbersInNames)
    .map((file) => ({ path: file, isFromFolder: true }));
}

/** Training steps in their order: 2.jsonl before 10.jsonl. */
function byNumbersInNames(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** What a file holds, with what cannot be read in its place. */
export interface OpenRecords {
  readonly records: AsyncIterable<Parsed>;
  readonly size: number;
  read(): number;
  close(): void;
}

export async function openRecords({ path, importer, reader, later }: FileToRead): Promise<OpenRecords> {
  if (importer.container === 'parquet') {
    const { size } = await checkFile(path);
    return {
      records: checked(reader({ path, bytes: nothing(), later }), path),
      size,
      read: () => size,
      close: () => {},
    };
  }
  const file = await openFile(path);
  return {
    records: checked(reader({ path, bytes: file.bytes, later }), path),
    size: file.size,
    read: () => file.read(),
    close: () => file.close(),
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A file that breaks off in the middle (a truncated download, a damaged archive) is read up to there. */
async function* checked(records: AsyncIterable<Parsed>, path: string): AsyncGenerator<Parsed> {
  const known = new Set<string>();
  try {
    for await (const parsed of records) {
      const why = repeated(parsed, known);
      yield why === null ? parsed : { kind: 'skipped', where: parsed.where, why };
    }
  } catch (error) {
    yield { kind: 'skipped', where: path, why: `the rest cannot be read: ${messageOf(error)}` };
  }
}

function repeated(parsed: Parsed, known: Set<string>): string | null {
  if (parsed.kind !== 'trajectory') return null;
  const { id } = parsed.trajectory;
  if (known.has(id)) return `trajectory ${id} stands further up in the same file`;
  known.add(id);
  return null;
}

export function nothingIn({ title }: Importer, path: string, last: Skipped | undefined): RecreditError {
  const why = last ? `; ${last.where}: ${last.why}` : '';
  return new RecreditError('file.invalid', `${path} holds nothing that can be read as ${title}${why}`);
}
