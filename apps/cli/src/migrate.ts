import { messageOf, RecreditError } from '#lib/kernel';
import { runMigrations } from '#lib/storage';
import { MIGRATIONS } from '#migrations';

/** Brings a database up to this version. It is the first to speak to it, so it says what is wrong with the address. */
export async function migrate(url: string): Promise<void> {
  try {
    await runMigrations(url, MIGRATIONS);
  } catch (cause) {
    if (cause instanceof RecreditError) throw cause;
    const { host, pathname } = new URL(url);
    throw new RecreditError(
      'database.unavailable',
      `the database at ${host}${pathname} cannot be used: ${messageOf(cause) || 'it does not answer'}; RECREDIT_DATABASE_URL names another`,
      {},
      { cause },
    );
  }
}
