import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Python compiles what it imports once for all tests, and leaves nothing beside the sources. */
export const PYTHON_CACHE = { PYTHONPYCACHEPREFIX: join(import.meta.dirname, '../../dist/python') };

/** The version of `python3`; null where there is none, or one that the Python SDK does not run on. */
export function pythonVersion(): string | null {
  try {
    const said = execFileSync('python3', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [, version, major, minor] = /^Python ((\d+)\.(\d+)\S*)/.exec(said) ?? [];
    return version && (Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 10)) ? version : null;
  } catch {
    return null;
  }
}

/** Whether `python3` finds all of these, without importing them. */
export function hasPackages(...names: readonly string[]): boolean {
  const code = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))`;
  try {
    execFileSync('python3', ['-c', code, ...names], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
