import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ESTIMATORS } from '#lib/credit';
import { LEARNED_ESTIMATORS } from '#lib/credit-learned';
import { messageOf, RecreditError } from '#lib/kernel';
import type { OwnEstimator, OwnModule } from './own-estimator.js';
import { OwnThread } from './own-thread.js';

const HASH_DIGITS = 12;

/**
 * Reads and checks the modules of a folder: every `.mjs` and `.js` that lies in it, by name.
 *
 * @param folder null: there are none
 * @throws RecreditError `estimator.invalid` with the file and the reason, at the first that is no estimator, takes too long
 *   to import, or has the id of another
 */
export async function readOwnEstimators(
  folder: string | null,
  thread: Pick<OwnThread, 'describe' | 'close'> = new OwnThread(),
): Promise<OwnEstimator[]> {
  if (folder === null) return [];
  try {
    const found: OwnEstimator[] = [];
    for (const module of await modulesIn(folder)) {
      const own = { ...module, description: await thread.describe(module) };
      assertNew(own, found);
      found.push(own);
    }
    return found;
  } finally {
    await thread.close();
  }
}

async function modulesIn(folder: string): Promise<OwnModule[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new RecreditError('config.invalid', `RECREDIT_ESTIMATORS: ${folder} cannot be read: ${messageOf(cause)}`);
  });
  const files = names.filter((name) => /\.m?js$/.test(name) && !name.startsWith('.')).toSorted();
  return Promise.all(
    files.map(async (name) => {
      const file = join(folder, name);
      const bytes = await readFile(file);
      const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS);
      return { file, hash, source: bytes.toString('utf8') };
    }),
  );
}

function assertNew({ file, hash, description: { id } }: OwnEstimator, others: readonly OwnEstimator[]): void {
  const other = others.find(({ description }) => description.id === id)?.file;
  const owner =
    other ??
    ([...ESTIMATORS, ...LEARNED_ESTIMATORS].some((known) => known.id === id) ? 'the catalogue of Recredit' : null);
  if (owner === null) return;
  throw new RecreditError('estimator.invalid', `${file}: its id ${id} is taken by ${owner}`, { file, hash });
}
