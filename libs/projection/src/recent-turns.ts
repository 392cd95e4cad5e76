import type { LoggedEvent } from '#lib/event-log';
import type { RunEvent } from '#lib/protocol';
import { PER_TRAJECTORY, turnBytes } from './turn-bytes.js';

interface Recent {
  readonly events: Map<number, RunEvent>;
  bytes: number;
}

/**
 * Events with turns that no segment holds yet, as the projector has just read them, so that a cut need not read them
 * again. It may forget any of them at any time: the log has them all, and events never change.
 */
export class RecentTurns {
  readonly #runs = new Map<string, Recent>();
  #bytes = 0;

  /** @param maxBytes about, in memory */
  constructor(private readonly maxBytes = 64 * 1024 * 1024) {}

  of(runId: string): ReadonlyMap<number, RunEvent> | undefined {
    return this.#runs.get(runId)?.events;
  }

  add(runId: string, logged: readonly LoggedEvent[]): void {
    const recent = this.#runs.get(runId) ?? { events: new Map<number, RunEvent>(), bytes: 0 };
    // a Map keeps the order of insertion: the run used last moves to the end
    this.#runs.delete(runId);
    this.#runs.set(runId, recent);
    for (const { position, event } of logged) {
      const bytes = sizeOf(event);
      if (bytes === 0 || recent.events.has(position)) continue;
      recent.events.set(position, event);
      recent.bytes += bytes;
      this.#bytes += bytes;
    }
    for (const oldest of this.#runs.keys()) {
      if (this.#bytes <= this.maxBytes) break;
      this.forget(oldest);
    }
  }

  /** A segment holds them now. */
  drop(runId: string, positions: readonly number[]): void {
    const recent = this.#runs.get(runId);
    if (!recent) return;
    for (const position of positions) {
      const event = recent.events.get(position);
      if (!event) continue;
      recent.events.delete(position);
      recent.bytes -= sizeOf(event);
      this.#bytes -= sizeOf(event);
    }
  }

  forget(runId: string): void {
    this.#bytes -= this.#runs.get(runId)?.bytes ?? 0;
    this.#runs.delete(runId);
  }
}

/** 0: holds no turns. */
function sizeOf(event: RunEvent): number {
  if (event.type === 'turn.recorded') return turnBytes(event);
  if (event.type !== 'trajectory.recorded') return 0;
  return event.turns.reduce((sum, turn) => sum + turnBytes(turn), PER_TRAJECTORY);
}
