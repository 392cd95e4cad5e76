import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Backoff } from './backoff.js';
import type { PlatformClient } from './platform-client.js';
import { readProducerFile, writeProducerFile, type ProducerFile } from './producer-file.js';
import { Sender, type Registration } from './sender.js';
import { listSpool } from './spool-files.js';
import { takeLock, type SpoolLock } from './spool-lock.js';
import { Spool } from './spool.js';

/** Makes a producer's folder. The lock comes first: a folder without `producer.json` is nobody's to resume. */
export function createProducer(dir: string, file: ProducerFile): SpoolLock {
  mkdirSync(dir, { recursive: true });
  const { lock } = takeLock(dir);
  if (!lock) throw new Error(`${dir} is in use`);
  writeProducerFile(dir, file);
  return lock;
}

/** The producers of a spool, the oldest first. */
export function producersIn(root: string): { dir: string; file: ProducerFile }[] {
  if (!existsSync(root)) return [];
  return [root, ...readdirSync(root).map((name) => join(root, name))]
    .flatMap((dir) => {
      const file = readProducerFile(dir);
      return file ? [{ dir, file }] : [];
    })
    .toSorted((a, b) => (a.file.startedAt < b.file.startedAt ? -1 : 1));
}

/** Creates the run where that is still to be done, and remembers its id beside the batches. */
export function registrationOf(dir: string, file: ProducerFile, client: PlatformClient): Registration {
  let known: ProducerFile = file.url === client.url ? file : { ...file, url: client.url, run: null };
  return {
    get run() {
      return known.run;
    },
    async create(signal) {
      const { project, name, config, idempotencyKey } = known;
      const outcome = await client.createRun({ project, name, config, idempotencyKey }, signal);
      if (outcome.kind === 'done') {
        known = { ...known, run: outcome.value };
        remember(dir, known);
      }
      return outcome;
    },
  };
}

/** On a full disk the id stays unwritten; asking again gives the same one. */
function remember(dir: string, file: ProducerFile): void {
  try {
    writeProducerFile(dir, file);
  } catch {
    // see above
  }
}

export interface Resumed {
  readonly sender: Sender;
  readonly spool: Spool;
  /** Ends sending; the folder goes when nothing is left in it. */
  finish(): Promise<void>;
}

/** Takes up the batches that a dead process left; null while a living one has them. */
export function resumeProducer(
  { dir, file }: { dir: string; file: ProducerFile },
  client: PlatformClient,
  backoff: Backoff,
): Resumed | null {
  const { lock } = takeLock(dir);
  if (!lock) return null;
  const spool = new Spool(dir, Infinity);
  const sender = new Sender({
    client,
    spool,
    registration: registrationOf(dir, file, client),
    producer: file.producer,
    epoch: lock.epoch,
    backoff,
    sealAfterMs: Infinity,
    followCuts: false,
  });
  return {
    sender,
    spool,
    async finish() {
      await sender.stop();
      leaveProducer(file, spool, lock);
    },
  };
}

/** Gives a folder up: it is removed when all of it is in the log or can be made again, else somebody else may take it. */
export function leaveProducer({ replay }: ProducerFile, spool: Spool, lock: SpoolLock): void {
  const { dir } = spool;
  spool.seal();
  if (!lock.renew()) return;
  if (replay || (spool.unsent === 0 && listSpool(dir).refused.length === 0)) removeProducer(dir);
  else lock.release();
}

/** Finishes removals that a kill interrupted. */
export function sweep(root: string): void {
  if (!existsSync(root)) return;
  for (const name of readdirSync(root)) {
    if (/^\..+\.gone$/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}

export function removeProducer(dir: string): void {
  const gone = join(dirname(dir), `.${randomUUID()}.gone`);
  renameSync(dir, gone);
  rmSync(gone, { recursive: true, force: true });
}

/**
 * Delivers what dead processes left in a spool, one producer after the other.
 *
 * @param belongs which of them
 * @param deliver what to do with the sender of one
 */
export async function deliverBacklog(
  root: string,
  client: PlatformClient,
  backoff: Backoff,
  belongs: (file: ProducerFile) => boolean,
  deliver: (sender: Sender) => Promise<void>,
): Promise<void> {
  sweep(root);
  for (const producer of producersIn(root)) {
    if (!belongs(producer.file)) continue;
    try {
      const resumed = hasPending(producer.dir) ? resumeProducer(producer, client, backoff) : null;
      if (resumed?.spool.unsent) await deliver(resumed.sender);
      await resumed?.finish();
    } catch {
      // A folder that cannot be read must not hold up a run that has nothing to do with it; `recredit sync` names it.
    }
  }
}

function hasPending(dir: string): boolean {
  return existsSync(dir) && listSpool(dir).pending.length > 0;
}
