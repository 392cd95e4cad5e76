// Installs the dependencies when they are absent or older than the lock file, so that each npm command is one command.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const lock = join(root, 'package-lock.json');
const installed = join(root, 'node_modules', '.package-lock.json');

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  process.stderr.write('Installing dependencies (once) ...\n');
  const npm = process.env.npm_execpath;
  // not `npm ci`: it refuses a lock file without the optional packages of platforms that the registry at hand does not
  // have, even where this platform needs none of them. Versions and checksums are the lock file's either way.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const stdio = ['ignore', 'ignore', 'inherit'];
  try {
    if (npm) execFileSync(process.execPath, [npm, ...args], { cwd: root, stdio });
    else execFileSync('npm', args, { cwd: root, stdio, shell: process.platform === 'win32' });
  } catch {
    process.stderr.write('npm install failed: see its message above; the npm registry must be reachable.\n');
    process.exit(1);
  }
}
