import { v7 } from 'uuid';

/** A new id that sorts by the time it was made (UUID version 7). */
export function newId(): string {
  return v7();
}
