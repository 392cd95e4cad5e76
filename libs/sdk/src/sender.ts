import { waitMs, type Backoff } from './backoff.js';
import { Nap } from './nap.js';
import type { PlatformClient, Stored } from './platform-client.js';
import type { Outcome, Problem } from './problem.js';
import { endOfLine } from './spool-files.js';
import type { SealedFile, Spool } from './spool.js';

/** Whoever waits for a person to repair a key asks this seldom. */
const BLOCKED_MS = 60_000;

/** Finds the run's id, by creating the run where that has not happened yet. */
export interface Registration {
  readonly run: string | null;
  create(signal: AbortSignal): Promise<Outcome<string>>;
}

export interface SenderOptions {
  readonly client: PlatformClient;
  readonly spool: Spool;
  readonly registration: Registration;
  readonly producer: string;
  readonly epoch: number;
  readonly backoff: Backoff;
  /** An open batch is sealed at this age, when the sender is free. Infinity: only when it is full or flushed. */
  readonly sealAfterMs: number;
  /** The events are those of an earlier time again: where the log cut a batch earlier, cut there too. */
  readonly followCuts: boolean;
  /** What must be delivered before the first event of this spool. */
  readonly before?: (deliver: (sender: Sender) => Promise<void>) => Promise<void>;
}

export interface FlushOptions {
  /** Waits at most this long. */
  readonly deadlineMs?: number;
  /** Waits at most this long for the next acknowledgement. */
  readonly patienceMs?: number;
  /** false: only waits for what is sealed */
  readonly seal?: boolean;
}

/**
 * Brings the batches of a spool to the platform in the background, oldest first, one request at a time. An answer
 * that got lost is asked for again with the same sequence and bytes, which the log recognises: exactly once follows.
 */
export class Sender {
  /** acknowledged events; `duplicates` of them were in the log before */
  sent = 0;
  duplicates = 0;
  /** events that the platform refused for their content, set aside in the spool */
  refused = 0;
  position: number | null = null;
  /** why the last request failed; null after one that succeeded */
  problem: Problem | null = null;
  /** why the last batch was set aside */
  refusal: Problem | null = null;
  /** No further request can help: somebody must look at `problem`. */
  stuck = false;

  private failures = 0;
  private timesBlocked = 0;
  private flushing = 0;
  private stopped = false;
  private prepared = false;
  /** how many events of the oldest batch the log has as a batch of their own */
  private head: number | null = null;
  private working: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private inner: Sender | null = null;
  private obeying = false;
  private change = Promise.withResolvers<void>();
  private readonly abort = new AbortController();
  private readonly nap = new Nap();

  constructor(private readonly options: SenderOptions) {}

  /** To be called after an event was recorded; returns at once. */
  recorded(): void {
    if (this.working || this.stuck || this.stopped) return;
    if (this.options.spool.sealed > 0) this.schedule(0);
    else if (!this.timer) this.schedule(this.options.sealAfterMs);
  }

  /** Starts sending, if there is anything to send or a run to create. */
  wake(): void {
    if (this.working || this.stuck || this.stopped) return;
    clearTimeout(this.timer ?? undefined);
    this.timer = null;
    this.working = this.work()
      .catch((error: unknown) => this.giveUp(spoolProblem(error)))
      .finally(() => {
        this.working = null;
        if (this.options.spool.unsent > 0 && this.flushing > 0) this.schedule(0);
        else if (this.options.spool.unsent > 0) this.recorded();
        this.changed();
      });
  }

  /** Resolves when all is sent, when no request can help any more, or when the time is over. */
  async flush({ deadlineMs = Infinity, patienceMs = Infinity, seal = true }: FlushOptions = {}): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    const { timesBlocked } = this;
    let settled = this.settled;
    let patience = performance.now() + patienceMs;
    if (seal) this.flushing++;
    this.hurry();
    this.wake();
    while (!this.isDone(seal) && !this.stuck && !this.stopped && this.timesBlocked === timesBlocked) {
      if (this.settled !== settled) patience = performance.now() + patienceMs;
      settled = this.settled;
      const left = Math.min(deadline, patience) - performance.now();
      if (left <= 0) break;
      await within(left, this.change.promise);
    }
    if (seal) this.flushing--;
  }

  /** Resolves when the run has an id, with it, or with null when the time is over or no request can help. */
  async created(deadlineMs: number): Promise<string | null> {
    const deadline = performance.now() + deadlineMs;
    const { timesBlocked } = this;
    this.wake();
    while (!this.options.registration.run && !this.stuck && !this.stopped && this.timesBlocked === timesBlocked) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      await within(left, this.change.promise);
    }
    return this.options.registration.run;
  }

  /** Sends nothing more. A request on its way is given up; its batch stays in the spool. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer ?? undefined);
    this.abort.abort();
    this.nap.end();
    await this.inner?.stop();
    await this.working;
  }

  get run(): string | null {
    return this.options.registration.run;
  }

  private get settled(): number {
    return this.sent + this.refused + (this.inner?.settled ?? 0);
  }

  private isDone(seal: boolean): boolean {
    const { spool, registration } = this.options;
    return seal ? spool.unsent === 0 && registration.run !== null : spool.sealed === 0;
  }

  /** Cuts a wait short, unless the server asked for it. */
  private hurry(): void {
    if (!this.obeying) this.nap.end();
    this.inner?.hurry();
  }

  private schedule(ms: number): void {
    if (ms === Infinity) return;
    clearTimeout(this.timer ?? undefined);
    this.timer = setTimeout(() => this.wake(), ms);
    this.timer.unref();
  }

  private async work(): Promise<void> {
    if (!this.prepared) await this.options.before?.((sender) => this.deliverFirst(sender));
    this.prepared = true;
    while (!this.stopped && !this.stuck) {
      const { run } = this.options.registration;
      if (run === null) {
        await this.register();
        continue;
      }
      const file = this.nextFile();
      if (!file) return;
      await this.deliver(file, run);
    }
  }

  private async deliverFirst(sender: Sender): Promise<void> {
    if (this.stopped) return;
    this.inner = sender;
    await sender.flush();
    this.inner = null;
  }

  private nextFile(): SealedFile | null {
    const { spool, sealAfterMs } = this.options;
    if (spool.sealed === 0 && spool.openSince !== null) {
      const left = sealAfterMs - (performance.now() - spool.openSince);
      if (left <= 0 || this.flushing > 0) spool.seal();
      else this.schedule(left);
    }
    return spool.next();
  }

  private async register(): Promise<void> {
    const outcome = await this.options.registration.create(this.abort.signal);
    if (outcome.kind === 'done') this.succeeded();
    else if (outcome.kind === 'refused' || outcome.kind === 'conflict') this.giveUp(outcome.problem);
    else await this.pause(outcome);
  }

  private async deliver(file: SealedFile, run: string): Promise<void> {
    const { client, spool, producer, epoch } = this.options;
    const all = await spool.read(file);
    const lines = this.head === null ? all : all.subarray(0, endOfLine(all, this.head));
    const outcome = await client.append(
      { run, producer, epoch, sequence: spool.nextSequence, lines },
      this.abort.signal,
    );
    switch (outcome.kind) {
      case 'done':
        return this.acknowledge(file, all, outcome.value);
      case 'refused':
        spool.setAside(file, outcome.problem);
        this.refused += file.events;
        this.refusal = outcome.problem;
        return this.succeeded();
      case 'conflict':
        return this.resolve(file, outcome.problem);
      case 'again':
      case 'blocked':
        return this.pause(outcome);
    }
  }

  private acknowledge(file: SealedFile, lines: Uint8Array, stored: Stored): void {
    const { spool } = this.options;
    const events = this.head ?? file.events;
    if (this.head === null) spool.acknowledge(file);
    else spool.acknowledgeHead(file, lines, events);
    this.head = null;
    this.sent += events;
    if (stored.duplicate) this.duplicates += events;
    this.position = Math.max(this.position ?? 0, stored.firstPosition + stored.eventCount);
    this.succeeded();
  }

  /** The log disagrees about what comes next. Where what it lacks is still here, or its cut is known, this heals. */
  private async resolve(file: SealedFile, problem: Problem): Promise<void> {
    const { spool, followCuts } = this.options;
    const { expected, eventCount } = problem.details;
    if (problem.code === 'sequence.unexpected' && typeof expected === 'number' && expected < spool.nextSequence) {
      const events = spool.rewindTo(expected);
      if (events === null) return this.giveUp(problem);
      this.sent -= events;
      return this.pause({ kind: 'again', problem, afterMs: null });
    }
    if (problem.code === 'batch.conflicting' && followCuts && typeof eventCount === 'number') {
      if (this.head === null && eventCount > 0 && eventCount < file.events) {
        this.head = eventCount;
        return;
      }
    }
    this.giveUp(problem);
  }

  private async pause(outcome: Extract<Outcome<never>, { kind: 'again' | 'blocked' }>): Promise<void> {
    if (this.stopped) return;
    this.problem = outcome.problem;
    this.failures++;
    const asked = outcome.kind === 'again' ? outcome.afterMs : null;
    if (outcome.kind === 'blocked') this.timesBlocked++;
    this.changed();
    const wait = waitMs(this.failures, asked, Math.random(), this.options.backoff);
    this.obeying = asked !== null;
    await this.nap.sleep(outcome.kind === 'blocked' ? BLOCKED_MS : wait);
    this.obeying = false;
  }

  private succeeded(): void {
    this.failures = 0;
    this.problem = null;
    this.changed();
  }

  private giveUp(problem: Problem): void {
    this.problem = problem;
    this.stuck = true;
    this.changed();
  }

  private changed(): void {
    this.change.resolve();
    this.change = Promise.withResolvers<void>();
  }
}

/** Waits with a timer that keeps the process alive: whoever flushes wants to see the end of it. */
async function within(ms: number, change: Promise<void>): Promise<void> {
  if (ms === Infinity) return change;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1));
  await Promise.race([promise, change]);
  clearTimeout(timer);
}

function spoolProblem(error: unknown): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return { status: null, code: 'spool.failed', detail, details: {} };
}
