import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { invalid } from './invalid.js';
import type { OwnModule } from './own-estimator.js';

/**
 * Imports the source of a module in this thread. From its text and not from its file, so that what runs is what was hashed;
 * for the same reason it can import built-in modules (`node:`) only.
 *
 * @returns its default export
 */
export async function importModule({ file, source }: OwnModule): Promise<unknown> {
  const named = `${source}\n//# sourceURL=${file}`;
  const url = `data:text/javascript;base64,${Buffer.from(named).toString('base64')}`;
  try {
    const module = (await import(url)) as { default?: unknown };
    return module.default;
  } catch (error) {
    const specifier = /^Failed to resolve module specifier "([^"]+)"/.exec(
      String((error as Error | null)?.message),
    )?.[1];
    if (!specifier) throw error;
    throw invalid(`it imports ${specifier}: a module is one file and may import built-in modules (node:) only`);
  }
}

/** What went wrong in a module's code, with the line where its own frames are in the stack. */
export function problemIn({ file }: Pick<OwnModule, 'file'>, error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  const at = error.stack?.indexOf(`${file}:`) ?? -1;
  const line = at < 0 ? null : /^\d+/.exec(error.stack!.slice(at + file.length + 1))?.[0];
  const name = error.name === 'Error' || error.name === 'RecreditError' ? '' : `${error.name}: `;
  return `${name}${error.message}${line ? ` (${basename(file)}:${line})` : ''}`;
}

/** Where its syntax is wrong: imports do not say. Runs nothing of it. */
export function syntaxErrorLine({ source }: OwnModule): Promise<string | null> {
  return new Promise((resolve) => {
    const args = ['--check', '--input-type=module', '-'];
    const child = execFile(process.execPath, args, { timeout: 10_000 }, (_, __, stderr) => {
      resolve(/^\[stdin\]:(\d+)/.exec(stderr)?.[1] ?? null);
    });
    child.stdin?.end(source);
  });
}
