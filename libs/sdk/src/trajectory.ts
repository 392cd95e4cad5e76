import type { Signals, Text } from '#lib/protocol';
import { randomUUID } from 'node:crypto';
import type { OutgoingEvent } from './encode-event.js';
import { refusal, type Receipt } from './receipt.js';
import type { TokenValues } from './token-columns.js';

export interface TrajectoryStart {
  /** default: a new UUID */
  readonly id?: string | undefined;
  /** the rollouts of one prompt or task within one training step */
  readonly group: string;
  readonly trainingStep: number;
  /** the trajectory it branches off; turns 0 to `turn` are shared, -1: only the prompt */
  readonly parent?: { readonly trajectory: string; readonly turn: number } | undefined;
}

/** Numbers and values by name. NaN is sent as null: asked for and not available. */
export type SignalValues = Signals | Readonly<Record<string, unknown>>;

export interface TurnFields {
  readonly state?: Text | undefined;
  readonly action?: Text | undefined;
  readonly reward?: number | null | undefined;
  readonly signals?: SignalValues | undefined;
  /** one entry per token; a Float32Array travels as its bytes */
  readonly tokens?: Readonly<Record<string, TokenValues>> | undefined;
  /** whatever else is kept as it is */
  readonly [field: string]: unknown;
}

export interface TrajectoryEnd {
  readonly outcomeReward?: number | null | undefined;
  readonly success?: boolean | 0 | 1 | undefined;
  readonly signals?: SignalValues | undefined;
  readonly [field: string]: unknown;
}

/** One rollout while it happens. A turn that could not be recorded keeps its index, so that the gap is seen. */
export class Trajectory {
  readonly id: string;
  private readonly fields: Omit<TrajectoryStart, 'id'>;
  private turns = 0;
  private ended = false;

  constructor(
    start: TrajectoryStart,
    private readonly record: (make: () => OutgoingEvent) => Receipt,
  ) {
    const { id, ...fields } = start;
    this.id = id ?? randomUUID();
    this.fields = fields;
  }

  /** Records one turn: microseconds, no waiting, never throws. */
  turn(turn: TurnFields): Receipt {
    if (this.ended) return this.refuse('turn');
    const index = this.turns++;
    return this.record(() => ({ ...turn, type: 'turn.recorded', trajectory: this.id, ...this.fields, turn: index }));
  }

  end(end: TrajectoryEnd = {}): Receipt {
    if (this.ended) return this.refuse('end');
    this.ended = true;
    const { turns: turnCount } = this;
    return this.record(() => ({ ...end, type: 'trajectory.ended', trajectory: this.id, ...this.fields, turnCount }));
  }

  private refuse(what: string): Receipt {
    return refusal('ended', `${what}: trajectory ${this.id} has ended`);
  }
}
