import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { BACKOFF, type Backoff } from './backoff.js';
import { plain } from './plain.js';
import { PlatformClient } from './platform-client.js';
import type { ProducerFile } from './producer-file.js';
import { createProducer, deliverBacklog, producersIn, registrationOf } from './producer.js';
import { Run } from './run.js';
import { Sender } from './sender.js';
import { connectionOf, spoolRoot, type ConnectionSettings } from './settings.js';
import { SEAL_AT, Spool, type SealAt } from './spool.js';

export interface RunOptions extends ConnectionSettings {
  readonly project: string;
  /** The run's name in its project. A name that is there already continues that run. */
  readonly name: string;
  readonly config?: object | undefined;
  /** folder for what is not acknowledged yet; default RECREDIT_SPOOL, else `spool` in RECREDIT_HOME */
  readonly spool?: string | undefined;
  /** of one process's events in the spool; default 1 GiB */
  readonly maxSpoolBytes?: number | undefined;
  /** No server at all: `recredit sync` delivers later. */
  readonly offline?: boolean | undefined;
  /** Two starts with the same key are one run; default: the same for a project and name. */
  readonly idempotencyKey?: string | undefined;
  readonly sealAt?: SealAt | undefined;
  /** how long an event waits for others to share its batch; default 250 ms */
  readonly sealAfterMs?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /**
   * The events come from a source that can be read again, and always in the same order: `source` names it for ever,
   * `at` is the time of events that have none. Sent again, they are recognised; sent for longer, only the rest is new.
   */
  readonly replay?: { readonly source: string; readonly at: string } | undefined;
}

const MAX_SPOOL_BYTES = 1024 ** 3;
const SEAL_AFTER_MS = 250;

/**
 * Starts to record a run. No request is made here: the run is created in the background as soon as the server answers,
 * and what a process that died has left in the same spool is delivered first.
 *
 * @throws TypeError for options that cannot be meant; only here, never later
 */
export async function startRun(options: RunOptions): Promise<Run> {
  const { replay, backoff = BACKOFF, sealAt = SEAL_AT } = options;
  for (const field of ['project', 'name'] as const) {
    if (typeof options[field] !== 'string' || options[field] === '') throw new TypeError(`${field}: expected a name`);
  }
  const root = spoolRoot(options.spool);
  const connection = connectionOf(options);
  const file = producerFile(options, options.offline ? null : connection.url, startedAfter(root));
  const dir = join(root, replay ? `${file.producer}-${randomUUID()}` : file.producer);
  const lock = createProducer(dir, file);
  const spool = new Spool(dir, options.maxSpoolBytes ?? MAX_SPOOL_BYTES, sealAt);
  const parts = { file, spool, lock, now: () => replay?.at ?? new Date().toISOString() };
  if (options.offline) return new Run({ ...parts, delivery: null });

  const client = new PlatformClient(connection);
  const registration = registrationOf(dir, file, client);
  const backlog = new Backlog(root, client, backoff);
  const sender = new Sender({
    client,
    spool,
    registration,
    producer: file.producer,
    epoch: lock.epoch,
    backoff,
    sealAfterMs: replay ? Infinity : (options.sealAfterMs ?? SEAL_AFTER_MS),
    followCuts: replay !== undefined,
    ...(replay ? {} : { before: (deliver) => backlog.ofRun(file, deliver) }),
  });
  sender.wake();
  if (!replay) backlog.ofOthers(file);
  const stop = async () => {
    await Promise.all([sender.stop(), backlog.stop()]);
  };
  return new Run({ ...parts, delivery: { sender, registration, stop } });
}

function producerFile(options: RunOptions, url: string | null, startedAt: string): ProducerFile {
  const { project, name, replay } = options;
  return {
    version: 1,
    producer: replay ? `replay-${digest(project, name, replay.source)}` : randomUUID(),
    url,
    project,
    name,
    config: (plain(options.config ?? {}) ?? {}) as Record<string, unknown>,
    idempotencyKey: options.idempotencyKey ?? `sdk-${digest(project, name)}`,
    run: null,
    startedAt,
    replay: replay !== undefined,
  };
}

/** Now, or a millisecond after all that began in this spool before, where the clock was set back since. */
function startedAfter(root: string): string {
  const last = Date.parse(producersIn(root).at(-1)?.file.startedAt ?? '') || 0;
  return new Date(Math.max(Date.now(), last + 1)).toISOString();
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** What dead processes left in this spool: those of the same run go first, the others beside it. */
class Backlog {
  private stopped = false;
  private others: Sender | null = null;
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly root: string,
    private readonly client: PlatformClient,
    private readonly backoff: Backoff,
  ) {}

  ofRun({ project, name }: ProducerFile, deliver: (sender: Sender) => Promise<void>): Promise<void> {
    const belongs = (file: ProducerFile) => this.isOurs(file) && file.project === project && file.name === name;
    return deliverBacklog(this.root, this.client, this.backoff, belongs, deliver).catch(stays);
  }

  ofOthers({ project, name }: ProducerFile): void {
    const belongs = (file: ProducerFile) => this.isOurs(file) && (file.project !== project || file.name !== name);
    this.working = deliverBacklog(this.root, this.client, this.backoff, belongs, async (sender) => {
      this.others = sender;
      await sender.flush();
    }).catch(stays);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.others?.stop();
    await this.working;
  }

  private isOurs(file: ProducerFile): boolean {
    return !this.stopped && !file.replay && (file.url === null || file.url === this.client.url);
  }
}

/** What cannot be delivered stays where it is, for the next start or `recredit sync`, and holds up nobody. */
function stays(): void {}
