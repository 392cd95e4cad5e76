import { RecreditError } from '#lib/kernel';
import type { Bell } from './notifications.js';

export interface Watched<Value> {
  readonly bell: Bell;
  /** null: nothing new */
  readonly look: () => Promise<Value | null>;
  /** whether nothing comes after this value */
  readonly isLast?: ((value: Value) => boolean) | undefined;
  /** told of a look that failed for no reason of the watcher's own: the next one may see again */
  readonly failed: (error: unknown) => void;
}

/**
 * What `look` sees: at once, and again whenever the bell rings. No generator: one that waits can only be told to end
 * once it has woken up, and this one ends at once.
 */
export function watch<Value>({ bell, look, isLast, failed }: Watched<Value>): AsyncIterableIterator<Value> {
  const lookOnce = async () => {
    try {
      return await look();
    } catch (error) {
      if (error instanceof RecreditError) throw error;
      failed(error);
      return null;
    }
  };
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    bell.takeDown();
    return { done: true, value: undefined };
  };
  return {
    next: async () => {
      try {
        while (await bell.rings()) {
          const value = await lookOnce();
          if (value === null) continue;
          if (isLast?.(value)) bell.takeDown();
          return { done: false, value };
        }
        return await end();
      } catch (error) {
        bell.takeDown();
        throw error;
      }
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
