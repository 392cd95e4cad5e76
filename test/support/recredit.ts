import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export const RECREDIT = join(import.meta.dirname, '../../dist/apps/cli/src/main.js');

/** Node compiles what processes of the build have in common once for all of them. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../dist/compiled') };

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built `recredit` with nothing in its environment but what is said, and collects what it wrote. */
export async function recredit(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  const env = { PATH: process.env.PATH, ...COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, [RECREDIT, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** The one JSON document that a command printed, which must have succeeded and have said nothing else. */
// a test knows what it asked for
// oxlint-disable-next-line typescript/no-explicit-any
export async function recreditJson(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<any> {
  const { code, stdout, stderr } = await recredit([...args, '--json'], environment);
  if (code !== 0 || stderr !== '') throw new Error(`recredit ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout);
}
