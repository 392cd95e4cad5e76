import type { Logger } from 'pino';
import { assertKeyHolds } from '../keys/key.reader.js';
import type { Notifications } from './notifications.js';
import type { RequestContext } from './request-context.js';
import { watch } from './watch.js';

export interface Subject<Value> {
  readonly channel: string;
  readonly id: string;
  /** null: nothing new */
  readonly look: () => Promise<Value | null>;
  readonly isLast?: ((value: Value) => boolean) | undefined;
}

/** What subscriptions follow: something in the database, for as long as the caller's key holds. */
export class Watcher {
  constructor(
    private readonly notifications: Notifications,
    private readonly logger: Logger,
  ) {}

  watch<Value>(
    { channel, id, look, isLast }: Subject<Value>,
    { db, caller }: RequestContext,
  ): AsyncIterableIterator<Value> {
    return watch<Value>({
      bell: this.notifications.bell(channel, id),
      look: async () => {
        await assertKeyHolds(db, caller);
        return look();
      },
      isLast,
      failed: (error) => this.logger.warn({ err: error, channel, id }, 'a subscription could not look'),
    });
  }
}
