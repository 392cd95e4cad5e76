import type { Signals, TrajectoryRecord } from '#lib/protocol';
import { encodeEvent, type OutgoingEvent } from './encode-event.js';
import type { ProducerFile } from './producer-file.js';
import { leaveProducer } from './producer.js';
import { refusal, type Receipt, type Refusal } from './receipt.js';
import type { RunReport } from './run-report.js';
import type { FlushOptions, Registration, Sender } from './sender.js';
import type { SpoolLock } from './spool-lock.js';
import type { Spool } from './spool.js';
import type { TokenValues } from './token-columns.js';
import { Trajectory, type SignalValues, type TrajectoryStart, type TurnFields } from './trajectory.js';

/** So often the lock on the spool is renewed and looked at; far below the lease. */
const RENEW_MS = 30_000;
const MAX_REASONS = 20;
const FLUSH_MS = 10_000;

export interface Annotation {
  readonly trajectory: string;
  readonly annotator: string;
  readonly schema?: string | undefined;
  readonly attempt?: number | undefined;
  readonly status?: 'ok' | 'failed' | undefined;
  readonly failureReason?: string | undefined;
  /** of the trajectory */
  readonly signals?: SignalValues | undefined;
  readonly turns?:
    | readonly { readonly turn: number; readonly signals: SignalValues; readonly rationale?: string | undefined }[]
    | undefined;
}

/** A whole rollout; token columns may be typed arrays. */
export type Rollout =
  | TrajectoryRecord
  | (Omit<TrajectoryRecord, 'turns' | 'signals'> & {
      readonly signals?: Signals | Readonly<Record<string, unknown>>;
      readonly turns: readonly TurnFields[];
    });

export interface CheckpointFields {
  readonly trainingStep: number;
  readonly sketch: TokenValues;
  /** how the sketch is divided, in its order; one tensor if not said */
  readonly tensors?: readonly { readonly name: string; readonly size: number }[] | undefined;
  /** how it was made: only sketches made alike are compared */
  readonly projection?: unknown;
}

export interface EndOptions {
  readonly state?: 'completed' | 'failed' | 'stopped' | undefined;
  readonly reason?: string | undefined;
  /** how long to wait for what is unsent; default 10 s */
  readonly deadlineMs?: number | undefined;
}

/** What a run is made of; `startRun` puts it together. */
export interface RunParts {
  readonly file: ProducerFile;
  readonly spool: Spool;
  readonly lock: SpoolLock;
  readonly now: () => string;
  /** null: recorded without a server, to be sent later */
  readonly delivery: { readonly sender: Sender; readonly registration: Registration; stop(): Promise<void> } | null;
}

/**
 * A run as its trainer sees it. Every call records to disk and returns at once, with what became of it; nothing here
 * throws or waits, whatever the server does. Only `flush`, `created`, `end` and `close` wait, for as long as they say.
 */
export class Run {
  private accepted = 0;
  private dropped = 0;
  private backPressure = 0;
  private readonly reasons = new Set<string>();
  private renewed = performance.now();
  private closing: Promise<RunReport> | null = null;

  constructor(private readonly parts: RunParts) {}

  get project(): string {
    return this.parts.file.project;
  }

  get name(): string {
    return this.parts.file.name;
  }

  /** null until the server has created it */
  get id(): string | null {
    return this.parts.delivery?.registration.run ?? this.parts.file.run;
  }

  trajectory(start: TrajectoryStart): Trajectory {
    return new Trajectory(start, (make) => this.write(make));
  }

  /** One optimizer iteration ended, with what was measured. */
  trainingStep(trainingStep: number, metrics: Readonly<Record<string, number | null>> = {}): Receipt {
    return this.write(() => ({ type: 'trainingStep.recorded', trainingStep, metrics }));
  }

  /** A whole rollout at once. */
  record(trajectory: Rollout): Receipt {
    return this.write(() => ({ ...trajectory, type: 'trajectory.recorded' }));
  }

  /** Signals that arrive later than their trajectory: a label, a judge's score. */
  annotate(annotation: Annotation): Receipt {
    return this.write(() => ({ ...annotation, type: 'annotation.recorded' }));
  }

  /** A sketch of the parameters after a training step: `run.checkpoint({ trainingStep, ...sketchOf(tensors) })`. */
  checkpoint(checkpoint: CheckpointFields): Receipt {
    return this.write(() => ({ ...checkpoint, type: 'checkpoint.recorded' }));
  }

  /** The trainer resumed from its checkpoint after this training step; what came later is superseded. */
  rewind(toTrainingStep: number): Receipt {
    return this.write(() => ({ type: 'run.rewound', toTrainingStep }));
  }

  /** An event of the protocol as it is. `at` is now where it says nothing else. */
  append(event: OutgoingEvent): Receipt {
    return this.write(() => event);
  }

  /** The run's id, as soon as the server has created it; null when that did not happen in time. */
  created({ deadlineMs = FLUSH_MS }: { deadlineMs?: number } = {}): Promise<string | null> {
    return this.parts.delivery?.sender.created(deadlineMs) ?? Promise.resolve(null);
  }

  /** Waits until all that is recorded so far is acknowledged, or the time is over. */
  async flush(options: FlushOptions = {}): Promise<RunReport> {
    await this.parts.delivery?.sender.flush({ deadlineMs: FLUSH_MS, ...options });
    return this.report();
  }

  /** Ends the run: records that, flushes, and says what is still unsent. What is unsent stays in the spool. */
  end({ state = 'completed', reason, deadlineMs }: EndOptions = {}): Promise<RunReport> {
    if (!this.closing) this.append({ type: 'run.ended', state, reason });
    return this.close({ deadlineMs });
  }

  /** Leaves the run without ending it: other processes, or this one later, go on with it. */
  close({ deadlineMs = FLUSH_MS }: { deadlineMs?: number | undefined } = {}): Promise<RunReport> {
    return (this.closing ??= this.leave(deadlineMs));
  }

  report(): RunReport {
    const { file, spool, delivery } = this.parts;
    return {
      run: this.id,
      project: file.project,
      name: file.name,
      producer: file.producer,
      spool: spool.dir,
      accepted: this.accepted,
      sent: delivery?.sender.sent ?? 0,
      duplicates: delivery?.sender.duplicates ?? 0,
      unsent: spool.unsent,
      refused: delivery?.sender.refused ?? 0,
      dropped: this.dropped,
      backPressure: this.backPressure,
      position: delivery?.sender.position ?? null,
      problem: delivery?.sender.problem ?? delivery?.sender.refusal ?? null,
      reasons: [...this.reasons],
    };
  }

  /** The event is made in here, so that whatever a trainer's objects throw stays in here. */
  private write(make: () => OutgoingEvent): Receipt {
    if (this.closing) return this.refuse(refusal('ended', `run ${this.name} has ended`));
    const { lock, spool, delivery, now } = this.parts;
    const encoded = encodeEvent(make, now);
    if ('problem' in encoded) return this.refuse(refusal('invalid', encoded.problem));
    if (performance.now() - this.renewed > RENEW_MS) {
      if (!lock.renew()) return this.refuse(refusal('spool-failed', `another process took over ${spool.dir}`));
      this.renewed = performance.now();
    }
    const receipt = spool.append(encoded.line, encoded.bytes, encoded.turn);
    if (!receipt.accepted) return this.refuse(receipt);
    this.accepted++;
    delivery?.sender.recorded();
    return receipt;
  }

  private refuse(receipt: Refusal): Receipt {
    if (receipt.reason === 'back-pressure') this.backPressure++;
    else this.dropped++;
    if (this.reasons.size < MAX_REASONS) this.reasons.add(receipt.detail);
    return receipt;
  }

  private async leave(deadlineMs: number): Promise<RunReport> {
    const { file, spool, lock, delivery } = this.parts;
    await delivery?.sender.flush({ deadlineMs });
    await delivery?.stop();
    spool.seal();
    const report = this.report();
    try {
      leaveProducer(file, spool, lock);
    } catch {
      // Nothing is lost by a folder that could not be tidied: it is taken for a dead process's when this one ends.
    }
    return report;
  }
}
