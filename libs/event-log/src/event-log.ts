import { RecreditError } from '#lib/kernel';
import type { Pool } from 'pg';
import { appendAfter, appendBatches, type Appended, type Tail } from './append.js';
import { AppendNotices } from './append-notices.js';
import type { Acknowledgement, SealedBatch } from './batch.js';
import { takeGroup } from './take-group.js';
import { transact } from './transaction.js';
import { unavailable } from './unavailable.js';

/** Compressed batches that wait for a lock or a connection. Beyond that the producers keep them. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
const MAX_REMEMBERED_RUNS = 1_000;

interface Request {
  readonly batch: SealedBatch;
  readonly answer: PromiseWithResolvers<Acknowledgement>;
}

/** What waits for one run. It lives while there is work; who finds none opens it. */
interface Lane {
  readonly key: string;
  readonly runId: string;
  readonly projects: string;
  readonly waiting: Request[];
  done: Promise<void>;
}

export interface EventLogOptions {
  /** false: nobody listens, so nothing is announced */
  readonly notify?: boolean;
  readonly maxWaitingBytes?: number;
}

/**
 * The writing side of the log. What waits for one run is joined into one transaction, so that one fsync and one turn
 * at the run's lock serve many requests (group commit). Any number of these may work on the same runs.
 */
export class EventLog {
  readonly #lanes = new Map<string, Lane>();
  /** by lane */
  readonly #tails = new Map<string, Tail>();
  readonly #notices: AppendNotices | undefined;
  readonly #maxWaitingBytes: number;
  #waitingBytes = 0;
  #closed = false;

  constructor(
    private readonly pool: Pool,
    { notify = true, maxWaitingBytes = MAX_WAITING_BYTES }: EventLogOptions = {},
  ) {
    if (notify) this.#notices = new AppendNotices(pool);
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /**
   * Appends a batch. Returned means on disk.
   *
   * @param projects what row-level security lets the append see: ids with commas between them, `*` for all
   * @throws RecreditError why it is refused (409), or why it should come again later (429, 503)
   */
  append(runId: string, batch: SealedBatch, projects = '*'): Promise<Acknowledgement> {
    const bytes = batch.payload.length;
    if (this.#closed) return Promise.reject(new RecreditError('database.unavailable', 'the platform is stopping'));
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.#maxWaitingBytes) {
      const message = `${this.#waitingBytes} bytes wait to be stored already`;
      return Promise.reject(new RecreditError('capacity.exceeded', message, { retryAfterSeconds: 1 }));
    }
    this.#waitingBytes += bytes;
    const answer = Promise.withResolvers<Acknowledgement>();
    this.#join(runId, projects, { batch, answer });
    return answer.promise.finally(() => (this.#waitingBytes -= bytes));
  }

  /** Says that the run grew, for one who appended in a transaction of his own and has committed it. */
  announce(runId: string): void {
    this.#notices?.announce(runId);
  }

  /** Takes no more, and returns when all that waits is answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lanes.values()].map((lane) => lane.done));
    await this.#notices?.close();
  }

  #join(runId: string, projects: string, request: Request): void {
    const key = `${projects} ${runId}`;
    const lane = this.#lanes.get(key);
    if (lane) {
      lane.waiting.push(request);
      return;
    }
    const opened: Lane = { key, runId, projects, waiting: [request], done: Promise.resolve() };
    this.#lanes.set(key, opened);
    opened.done = this.#work(opened);
  }

  async #work(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) await this.#commit(lane, takeGroup(lane.waiting));
    this.#lanes.delete(lane.key);
  }

  async #commit(lane: Lane, group: Request[]): Promise<void> {
    // requests of one producer may overtake each other on their way here
    group.sort((a, b) => a.batch.sequence - b.batch.sequence);
    try {
      const { decisions } = await this.#append(
        lane,
        group.map((request) => request.batch),
      );
      if (decisions.some((decision) => !(decision instanceof RecreditError) && !decision.duplicate)) {
        this.announce(lane.runId);
      }
      for (const [i, decision] of decisions.entries()) {
        if (decision instanceof RecreditError) group[i].answer.reject(decision);
        else group[i].answer.resolve(decision);
      }
    } catch (error) {
      const reason = unavailable(error);
      for (const { answer } of group) answer.reject(reason);
    }
  }

  async #append({ key, runId, projects }: Lane, batches: readonly SealedBatch[]): Promise<Appended> {
    const remembered = this.#tails.get(key) ?? null;
    this.#tails.delete(key); // whatever fails from here on may have been done or not
    const appended =
      // one statement sees what its connection sees, and that is all or nothing
      (remembered && projects === '*' && (await appendAfter(this.pool, runId, batches, remembered))) ||
      (await transact(this.pool, projects, (client) => appendBatches(client, runId, batches, remembered)));
    if (appended.tail) this.#remember(key, appended.tail);
    return appended;
  }

  #remember(key: string, tail: Tail): void {
    this.#tails.set(key, tail);
    for (const oldest of this.#tails.keys()) {
      if (this.#tails.size <= MAX_REMEMBERED_RUNS) break;
      this.#tails.delete(oldest);
    }
  }
}
