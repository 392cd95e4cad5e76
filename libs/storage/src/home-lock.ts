import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { RecreditError } from '#lib/kernel';

/**
 * Takes the home for this process until `release`. Held as a lock of the operating system (through SQLite, Node has no
 * flock), so that it ends with the process however that ends: no stale lock file, no reused process id.
 */
export function lockHome(home: string): { release(): void } {
  const lock = new DatabaseSync(join(home, 'lock'));
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive');
  } catch (cause) {
    lock.close();
    throw new RecreditError(
      'config.invalid',
      `another Recredit runs on ${home}: stop it, or give this one another RECREDIT_HOME`,
      { home },
      { cause },
    );
  }
  return { release: () => lock.close() };
}
