import { EventEmitter } from 'node:events';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { listenTo, type Listening, type Pool } from '#lib/storage';

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
  #listening: Listening | null = null;

  constructor(
    private readonly pool: Pool,
    private readonly channels: readonly string[],
  ) {}

  /** Listens until stopped, connecting again whenever the connection is lost. */
  onModuleInit(): void {
    this.#listening = listenTo(this.pool, this.channels, {
      onListening: () => this.#ringAll(),
      onNotice: (payload, channel) => this.#emitter.emit(nameOf(channel, payload)),
    });
  }

  /** After the sockets are closed: a subscriber that is told "complete" would not come again. */
  async onApplicationShutdown(): Promise<void> {
    this.#stopped.abort();
    this.#ringAll();
    await this.#listening?.close();
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
}

const nameOf = (channel: string, id: string) => `${channel}:${id}`;
