import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What lies in a producer's folder, one file per batch:
 *
 *     00000007.ndjson        recorded, not acknowledged; the number only orders
 *     00000007.sent          acknowledged under that sequence; dropped when room is needed, but for the newest,
 *                            whose name says which sequence comes next
 *     00000007.refused       refused for its content, with the answer in 00000007.problem.json; used no sequence
 *
 * Each step of a batch is one rename, so a process killed at any moment leaves a folder that says where it stood.
 */
export interface SpoolListing {
  readonly pending: readonly number[];
  readonly sent: readonly number[];
  readonly refused: readonly number[];
}

export type FileState = 'ndjson' | 'sent' | 'refused' | 'problem.json';

export function spoolFile(dir: string, number: number, state: FileState): string {
  return join(dir, `${String(number).padStart(8, '0')}.${state}`);
}

export function listSpool(dir: string): SpoolListing {
  const names = readdirSync(dir);
  const numbers = (state: FileState) =>
    names
      .flatMap((name) => {
        const [, number, suffix] = /^(\d{8,})\.(.+)$/.exec(name) ?? [];
        return suffix === state ? [Number(number)] : [];
      })
      .toSorted((a, b) => a - b);
  return { pending: numbers('ndjson'), sent: numbers('sent'), refused: numbers('refused') };
}

/** The whole lines of a batch. A line without its newline was torn by a kill or a full disk: nobody was told that it was recorded. */
export function readLines(path: string): Buffer {
  const bytes = readFileSync(path);
  return bytes.subarray(0, bytes.lastIndexOf(10) + 1);
}

export function countLines(lines: Uint8Array): number {
  let count = 0;
  for (let at = lines.indexOf(10); at >= 0; at = lines.indexOf(10, at + 1)) count++;
  return count;
}

/** Bytes of the first `count` lines. */
export function endOfLine(lines: Uint8Array, count: number): number {
  let end = 0;
  for (let i = 0; i < count; i++) end = lines.indexOf(10, end) + 1;
  return end;
}

export function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** Whole or not at all, also for a reader in another process. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}
