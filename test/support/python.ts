import { execFileSync } from 'node:child_process';

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
