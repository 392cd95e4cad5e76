import { messageOf } from '#lib/kernel';
import { migrationsBetween } from '#lib/storage';
import type { ApiPorts } from '../ports.js';

/** What must be so before requests can be served; 'ok', or what is wrong in words that anybody may read. */
export interface Readiness {
  readonly database: string;
  /** the database is of this version */
  readonly migrations: string;
  /** files can be written where segments and credit lie */
  readonly segments: string;
  /** not stopping */
  readonly process: string;
}

const OK = 'ok';
/** Who asks wants to know now, not when a connection was given up. */
const PATIENCE_MS = 3000;

/** Looks at every part at once; none waits for another. */
export async function readiness(
  { platform, store, migrations }: Pick<ApiPorts, 'platform' | 'store' | 'migrations'>,
  stopping: boolean,
): Promise<Readiness> {
  const [database, versions, segments] = await Promise.all([
    look(async () => void (await platform.query('select 1')), 'does not answer'),
    look(async () => assertCurrent(await migrationsBetween(platform, migrations ?? [])), 'cannot be read'),
    look(() => store.probe(), 'cannot be written'),
  ]);
  const unknown = database === OK ? versions : 'not known without the database';
  return { database, migrations: unknown, segments, process: stopping ? 'stopping' : OK };
}

export const failing = (found: Readiness): string[] =>
  Object.entries(found).flatMap(([part, said]) => (said === OK ? [] : [part]));

class Said extends Error {}

function assertCurrent({ missing, newer }: Awaited<ReturnType<typeof migrationsBetween>>): void {
  if (missing.length > 0) throw new Said(`not run: ${missing.join(', ')}`);
  if (newer.length > 0) throw new Said(`of a newer version: ${newer.join(', ')}`);
}

/** Why it fails is told by its code: messages name hosts and folders. */
async function look(check: () => Promise<void>, otherwise: string): Promise<string> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Said(`did not answer within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  try {
    await Promise.race([check(), late]);
    return OK;
  } catch (error) {
    if (error instanceof Said) return messageOf(error);
    const { code } = error as { code?: unknown };
    return typeof code === 'string' ? `${otherwise} (${code})` : otherwise;
  } finally {
    clearTimeout(timer);
  }
}
