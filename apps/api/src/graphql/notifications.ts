import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { Pool, PoolClient } from '#lib/storage';

const RECONNECT_MS = 500;
/** Notifications may be lost; nobody waits for one longer than this. */
const PATIENCE_MS = 5000;

/**
 * What Postgres notifies, for the subscribers of this process: one connection listens, however many they are. A
 * notification is a hint to look again; after a lost connection everybody is told to look.
 */
export class Notifications implements OnModuleInit, OnModuleDestroy {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  #stopped = false;
  #client: PoolClient | null = null;

  constructor(
    private readonly pool: Pool,
    private readonly channels: readonly string[],
  ) {}

  /** Listens until stopped, connecting again whenever the connection is lost. */
  onModuleInit(): void {
    void this.#listen();
  }

  onModuleDestroy(): void {
    this.#stopped = true;
    for (const name of this.#emitter.eventNames()) this.#emitter.emit(name);
    this.#client?.release(true);
    this.#client = null;
  }

  /** One entry at once, then one for each time that there may be news of `id`; entries that pile up are one. */
  async *about(channel: string, id: string): AsyncGenerator<void, void, undefined> {
    const name = `${channel}:${id}`;
    let news = Promise.withResolvers<void>();
    const ring = () => news.resolve();
    this.#emitter.on(name, ring);
    try {
      while (!this.#stopped) {
        yield;
        const timer = setTimeout(ring, PATIENCE_MS);
        await news.promise;
        clearTimeout(timer);
        news = Promise.withResolvers<void>();
      }
    } finally {
      this.#emitter.off(name, ring);
    }
  }

  async #listen(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#listenOnce();
      } catch {
        // the database is away: try again below
      }
      if (!this.#stopped) await sleep(RECONNECT_MS, undefined, { ref: false });
    }
  }

  async #listenOnce(): Promise<void> {
    const client = await this.pool.connect();
    this.#client = client;
    const lost = new Promise<void>((resolve) => client.once('error', () => resolve()).once('end', () => resolve()));
    client.on('notification', ({ channel, payload }) => this.#emitter.emit(`${channel}:${payload}`));
    for (const channel of this.channels) await client.query(`listen ${channel}`);
    for (const name of this.#emitter.eventNames()) this.#emitter.emit(name);
    await lost;
    if (this.#client === client) {
      this.#client = null;
      client.release(true);
    }
  }
}
