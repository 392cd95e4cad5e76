import { canonicalJson, ERROR_STATUS, RecreditError, type ErrorCode } from '#lib/kernel';
import { startRun, type Problem, type Receipt, type Run } from '#lib/sdk';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Importer, Parsed } from './importer.js';
import {
  described,
  nothingIn,
  openRecords,
  sourceFiles,
  type FileToRead,
  type RecognizedFile,
} from './source-files.js';
import { Tally, type Skipped } from './tally.js';

export interface ImportTarget {
  readonly project: string;
  /** The run's name; a run of that name is continued. */
  readonly name: string;
  readonly config?: object | undefined;
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
}

export interface ImportProgress {
  readonly path: string;
  /** of this file, as it lies on disk */
  readonly bytesRead: number;
  readonly bytes: number;
  readonly trajectories: number;
  readonly turns: number;
}

export interface ImportOptions {
  readonly target: ImportTarget;
  /** what the user says about the files, as the format's `settings` have it */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** gives up on a server that has not acknowledged anything for so long; default 60 s */
  readonly patienceMs?: number | undefined;
}

export interface ImportResult {
  /** the run's id */
  readonly run: string;
  readonly files: readonly RecognizedFile[];
  /** in the files; `newEvents` says how much of it was not in the log before */
  readonly trajectories: number;
  readonly groups: number;
  readonly turns: number;
  readonly annotations: number;
  /** the first thousand of `skippedCount` */
  readonly skipped: readonly Skipped[];
  readonly skippedCount: number;
  /** a whole trajectory is one event */
  readonly newEvents: number;
  readonly knownEvents: number;
}

// Pinned: the log recognises what it has by batches, so cuts that moved would make an old import unknown.
const SEAL_AT = { events: 500, bytes: 2 * 1024 * 1024 };
const MAX_SPOOL_BYTES = 64 * 1024 * 1024;
const PATIENCE_MS = 60_000;
const PROGRESS_EVERY = 100;

/** The time of what tells no time: the same on every import, so that the bytes are. */
const NO_TIME = '1970-01-01T00:00:00Z';

/**
 * Imports files into one run, through the SDK. Every file is a source that can be read again: the same file adds
 * nothing the second time, an import that broke off goes on where it stopped, and a longer version of a file adds its
 * rest. What cannot be read is skipped and named.
 *
 * @param format one of `IMPORTERS`, or `auto`: what each file begins with tells
 * @throws RecreditError `format.unknown`, `file.invalid`; what the platform said where it did not take everything
 */
export async function importFiles(
  format: string,
  paths: readonly string[],
  options: ImportOptions,
): Promise<ImportResult> {
  const { files, skipped: unread } = await sourceFiles(format, paths, options.settings);
  const spool = await mkdtemp(join(tmpdir(), 'recredit-import-'));
  const tally = new Tally();
  for (const each of unread) tally.skip(each);
  const totals = { run: '', newEvents: 0, knownEvents: 0 };
  try {
    for (const file of files) {
      const stored = await importFile(file, { ...options, spool, tally });
      if (stored === null) continue;
      totals.run = stored.run;
      totals.newEvents += stored.sent - stored.duplicates;
      totals.knownEvents += stored.duplicates;
    }
  } finally {
    await rm(spool, { recursive: true, force: true });
  }
  if (tally.events === 0) throw new RecreditError('file.invalid', nothingAtAll(files.length, tally));
  const { trajectories, groups, turns, annotations, skipped, skippedCount } = tally;
  return { ...totals, files: files.map(described), trajectories, groups, turns, annotations, skipped, skippedCount };
}

function nothingAtAll(files: number, { skipped }: Tally): string {
  return `none of ${files} files holds anything that can be read; ${skipped[0]?.where}: ${skipped[0]?.why}`;
}

interface FileOptions extends ImportOptions {
  readonly spool: string;
  readonly tally: Tally;
}

async function importFile(source: FileToRead, options: FileOptions) {
  const { path, importer } = source;
  const { settings = {}, tally, onProgress, patienceMs = PATIENCE_MS } = options;
  const file = await openRecords(source);
  const before = tally.events;
  let run: Run | null = null;
  let records = 0;
  const progress = () => {
    const { trajectories, turns } = tally;
    onProgress?.({ path, bytesRead: file.read(), bytes: file.size, trajectories, turns });
  };
  try {
    for await (const parsed of file.records) {
      if (records++ % PROGRESS_EVERY === 0) progress();
      if (parsed.kind === 'skipped') {
        tally.skip({ where: parsed.where, why: parsed.why });
        continue;
      }
      run ??= await startRun({
        ...options.target,
        spool: options.spool,
        maxSpoolBytes: MAX_SPOOL_BYTES,
        sealAt: SEAL_AT,
        replay: { source: sourceOf(importer, path, settings, parsed.raw), at: NO_TIME },
      });
      const receipt = await written(run, parsed, patienceMs);
      if (!receipt.accepted) tally.skip({ where: parsed.where, why: receipt.detail });
      else if (parsed.kind === 'trajectory') tally.addTrajectory(parsed.trajectory);
      else tally.addEvent(parsed.event);
    }
    if (!run || tally.events === before) {
      const problem = nothingIn(importer, path, tally.skipped.at(-1));
      if (!source.isFromFolder) throw problem;
      tally.skip({ where: path, why: problem.message });
      return null;
    }
    await run.flush({ deadlineMs: Infinity, patienceMs });
  } finally {
    file.close();
    await run?.close({ deadlineMs: 0 });
  }
  progress();
  const report = run.report();
  if (report.run === null || report.unsent > 0 || report.refused > 0) throw incomplete(path, report);
  return { ...report, run: report.run };
}

/**
 * What names the file for ever: its first record, as it stands there (a longer version of the file begins alike), and
 * what was said about it beside its bytes.
 */
function sourceOf(importer: Importer, path: string, settings: object, firstRecord: Uint8Array): string {
  const said = Object.keys(settings).length > 0 ? canonicalJson(settings) : '';
  const beside = [importer.nameSays(path), said].filter((text) => text !== '');
  return [importer.id, createHash('sha256').update(firstRecord).digest('hex'), ...beside].join(' ');
}

/** Records one, waiting for room where the platform is slower than the file. */
async function written(run: Run, parsed: Exclude<Parsed, { kind: 'skipped' }>, patienceMs: number): Promise<Receipt> {
  const write = () =>
    parsed.kind === 'event' ? run.append(parsed.event) : run.record({ at: NO_TIME, ...parsed.trajectory });
  const receipt = write();
  if (receipt.accepted || receipt.reason !== 'back-pressure') return receipt;
  await run.flush({ seal: false, deadlineMs: Infinity, patienceMs });
  const again = write();
  if (again.accepted || again.reason !== 'back-pressure') return again;
  throw unavailable(run.report().problem, again.detail);
}

function incomplete(path: string, report: { unsent: number; refused: number; problem: Problem | null }): RecreditError {
  const { unsent, refused, problem } = report;
  if (problem?.code === 'batch.conflicting') {
    return new RecreditError(
      'batch.conflicting',
      `${path} begins like a file that was imported into this run before, and then differs from it or is shorter; import it into another run`,
      problem.details,
    );
  }
  return unavailable(problem, `${unsent + refused} events of ${path} were not taken`);
}

function unavailable(problem: Problem | null, fallback: string): RecreditError {
  const code = problem && problem.code in ERROR_STATUS ? (problem.code as ErrorCode) : 'database.unavailable';
  const message = problem ? `${fallback}: ${problem.detail}` : fallback;
  return new RecreditError(code, `${message}; import again to go on from there`, problem?.details ?? {});
}
