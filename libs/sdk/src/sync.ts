import { BACKOFF, type Backoff } from './backoff.js';
import { PlatformClient } from './platform-client.js';
import type { Problem } from './problem.js';
import type { ProducerFile } from './producer-file.js';
import { producersIn, removeProducer, resumeProducer, sweep } from './producer.js';
import { connectionOf, spoolRoot, type ConnectionSettings } from './settings.js';
import { listSpool, spoolFile, countLines, readLines } from './spool-files.js';
import { takeLock } from './spool-lock.js';

export interface SyncOptions extends ConnectionSettings {
  /** gives up on a server that has not acknowledged anything for so long; default 30 s */
  readonly patienceMs?: number | undefined;
  readonly backoff?: Backoff | undefined;
  readonly onProgress?: ((report: SyncReport) => void) | undefined;
}

export interface SyncedProducer {
  readonly producer: string;
  readonly dir: string;
  readonly project: string;
  readonly name: string;
  readonly run: string | null;
  /** A living process has it; it sends its events itself. */
  readonly held: boolean;
  readonly sent: number;
  readonly duplicates: number;
  readonly unsent: number;
  readonly refused: number;
  readonly problem: Problem | null;
}

export interface SyncReport {
  readonly producers: readonly SyncedProducer[];
  readonly sent: number;
  readonly unsent: number;
  readonly refused: number;
}

/**
 * Delivers what dead processes left in a spool, or in one producer's folder, each event exactly once. What living
 * ones have is left to them.
 *
 * @param dir default: the same spool as `startRun`
 */
export async function sync(dir?: string, options: SyncOptions = {}): Promise<SyncReport> {
  const done: SyncedProducer[] = [];
  const root = spoolRoot(dir);
  sweep(root);
  for (const producer of producersIn(root)) {
    const synced = await syncProducer(producer, options);
    if (!synced) continue;
    done.push(synced);
    options.onProgress?.(reportOf(done));
  }
  return reportOf(done);
}

async function syncProducer(
  producer: { dir: string; file: ProducerFile },
  options: SyncOptions,
): Promise<SyncedProducer | null> {
  const { dir, file } = producer;
  if (file.replay) {
    if (takeLock(dir).lock) removeProducer(dir); // half an import; its source is read again
    return null;
  }
  const url = options.url ?? file.url ?? undefined;
  const client = new PlatformClient(connectionOf({ ...options, url }));
  const about = { producer: file.producer, dir, project: file.project, name: file.name };
  const nothing = { sent: 0, duplicates: 0, unsent: 0, refused: 0, problem: null };
  const resumed = resumeProducer(producer, client, options.backoff ?? BACKOFF);
  if (!resumed) return { ...about, ...nothing, run: file.run, held: true };
  const { sender, spool } = resumed;
  try {
    if (spool.unsent > 0) await sender.flush({ patienceMs: options.patienceMs ?? 30_000 });
    const { sent, duplicates, problem, refusal } = sender;
    const counts = { sent, duplicates, unsent: spool.unsent, refused: refusedEvents(dir) };
    return { ...about, ...counts, run: sender.run, held: false, problem: problem ?? refusal };
  } finally {
    await resumed.finish();
  }
}

function refusedEvents(dir: string): number {
  const { refused } = listSpool(dir);
  return refused.reduce((sum, number) => sum + countLines(readLines(spoolFile(dir, number, 'refused'))), 0);
}

function reportOf(producers: readonly SyncedProducer[]): SyncReport {
  const total = (field: 'sent' | 'unsent' | 'refused') => producers.reduce((sum, each) => sum + each[field], 0);
  return { producers: [...producers], sent: total('sent'), unsent: total('unsent'), refused: total('refused') };
}
