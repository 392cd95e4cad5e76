import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Pool } from '#lib/storage';

const RECONNECT_MS = 500;
/** Notifications may be lost; nobody waits for one longer than this. */
const PATIENCE_MS = 5000;

/** Rings when there may be news. Whoever waits waits alone. */
export interface Bell {
  /** at once the first time, then when it has rung since the last time; false: it never will again */
  rings(): Promise<boolean>;
  /** ends a waiting too */
  takeDown(): void;
}

/**
 * What Postgres notifies, for the subscribers of this process: one connection listens, however many they are. A
 * notification is a hint to look again; after a lost connection everybody is told to look.
 */
export class Notifications implements OnModuleInit, OnApplicationShutdown {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #stopped = new AbortController();

  constructor(
    private readonly pool: Pool,
    private readonly channels: readonly string[],
  ) {}

  /** Listens until stopped, connecting again whenever the connection is lost. */
  onModuleInit(): void {
    void this.#listen(this.#stopped.signal);
  }

  /** After the sockets are closed: a subscriber that is told "complete" would not come again. */
  onApplicationShutdown(): void {
    this.#stopped.abort();
    this.#ringAll();
  }

  /** Bells that hang. */
  get bellCount(): number {
    return this.#emitter.eventNames().reduce((sum, name) => sum + this.#emitter.listenerCount(name), 0);
  }

  /** A bell for the news of `id`; news that pile up ring it once. */
  bell(channel: string, id: string): Bell {
    const { signal } = this.#stopped;
    const name = nameOf(channel, id);
    let rung = Promise.withResolvers<void>();
    let isUp = true;
    const ring = () => rung.resolve();
    this.#emitter.on(name, ring);
    ring();
    return {
      rings: async () => {
        if (!isUp) return false;
        const timer = setTimeout(ring, PATIENCE_MS);
        await rung.promise;
        clearTimeout(timer);
        rung = Promise.withResolvers();
        return isUp && !signal.aborted;
      },
      takeDown: () => {
        isUp = false;
        this.#emitter.off(name, ring);
        ring();
      },
    };
  }

  #ringAll(): void {
    for (const name of this.#emitter.eventNames()) this.#emitter.emit(name);
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#listenOnce(signal).catch(() => {}); // the database is away: try again
      await sleep(RECONNECT_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Until the connection is lost, or stopped. */
  async #listenOnce(signal: AbortSignal): Promise<void> {
    const client = await this.pool.connect();
    const over = Promise.withResolvers<void>();
    const end = () => over.resolve();
    client.once('error', end).once('end', end);
    signal.addEventListener('abort', end);
    try {
      client.on('notification', ({ channel, payload = '' }) => this.#emitter.emit(nameOf(channel, payload)));
      if (!signal.aborted) for (const channel of this.channels) await client.query(`listen ${channel}`);
      this.#ringAll();
      if (!signal.aborted) await over.promise;
    } finally {
      signal.removeEventListener('abort', end);
      client.release(true);
    }
  }
}

const nameOf = (channel: string, id: string) => `${channel}:${id}`;
