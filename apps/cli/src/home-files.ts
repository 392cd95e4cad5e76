import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a platform leaves in its home for commands of the same user. */
const FIRST_KEY = 'first-key';
const URL_OF_RUNNING = 'url';

export const firstKeyFile = (home: string) => join(home, FIRST_KEY);
export const logFile = (home: string) => join(home, 'recredit.log');

export function readFirstKey(home: string): Promise<string | null> {
  return firstLine(firstKeyFile(home));
}

export async function writeFirstKey(home: string, text: string): Promise<void> {
  const file = firstKeyFile(home);
  await writeFile(file, `${text}\n`, { mode: 0o600 });
  await chmod(file, 0o600); // where an older one with other permissions was there
}

/** Where the platform of this home listens; after a kill, where it listened. */
export function readRunningUrl(home: string): Promise<string | null> {
  return firstLine(join(home, URL_OF_RUNNING));
}

export function writeRunningUrl(home: string, url: string): Promise<void> {
  return writeFile(join(home, URL_OF_RUNNING), `${url}\n`, { mode: 0o600 });
}

export function removeRunningUrl(home: string): Promise<void> {
  return rm(join(home, URL_OF_RUNNING), { force: true });
}

async function firstLine(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n', 1)[0].trim() || null;
}
