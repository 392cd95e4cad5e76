import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSegment, type SegmentStep } from '#lib/columnar';
import { messageOf, RecreditError } from '#lib/kernel';

const NUMERIC = /(?<!\.text)\.arrow$/;

/** The files of one segment, and what lies in them. */
export interface SegmentPaths {
  readonly numeric: string;
  readonly text: string;
  readonly steps: readonly SegmentStep[];
  readonly turns: number;
}

/** A `file:` URI, or a path as a shell gives it. */
export function pathOf(uri: string, workingDirectory: string): string {
  if (uri.startsWith('file://')) return fileURLToPath(uri);
  if (uri.startsWith('file:')) return resolve(workingDirectory, uri.slice('file:'.length));
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(uri)?.[1];
  if (!scheme) return resolve(workingDirectory, uri);
  throw new RecreditError(
    'config.invalid',
    `${uri}: ${scheme} is not in this version yet; files lie in file:/some/folder`,
  );
}

/**
 * The segments of one run, in their order: a folder as the segment store has it (`segments/<run>`), or the numeric file
 * of a single one.
 */
export async function segmentsAt(path: string): Promise<SegmentPaths[]> {
  const isFolder = await stat(path).then(
    (entry) => entry.isDirectory(),
    (cause: unknown) => {
      throw new RecreditError('file.invalid', `${path} cannot be read: ${messageOf(cause)}`, {}, { cause });
    },
  );
  const [folder, names] = isFolder ? [path, await readdir(path)] : [dirname(path), [basename(path)]];
  const numeric = names.filter((name) => NUMERIC.test(name)).toSorted((a, b) => ordinal(a) - ordinal(b));
  if (numeric.length === 0) {
    throw new RecreditError(
      'file.invalid',
      `${path} holds no segment: a folder segments/<run> of a segment store was wanted, or one .arrow file of it`,
    );
  }
  return Promise.all(numeric.map((name) => opened(join(folder, name))));
}

async function opened(numeric: string): Promise<SegmentPaths> {
  try {
    const { trajectories, steps } = openSegment(await readFile(numeric));
    return { numeric, text: numeric.replace(NUMERIC, '.text.arrow'), steps, turns: trajectories.stateKey.length };
  } catch (error) {
    throw new RecreditError('file.invalid', `${numeric} is no segment: ${messageOf(error)}`, {}, { cause: error });
  }
}

/** Files are named `<ordinal>-<hash>.arrow`. */
const ordinal = (name: string) => Number.parseInt(name, 10) || 0;
