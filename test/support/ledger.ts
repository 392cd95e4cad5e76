import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** An event that a client was told is in the log. */
export interface Acknowledged {
  readonly id: string;
  readonly position: number;
  /** of its line as the client sent it */
  readonly sha256: string;
}

/**
 * What clients saw with their own eyes, in files that nothing of the platform reads or writes: `recorded ID` when the
 * SDK had taken an event, `refused REASON` when it had not, `acknowledged RUN POSITION ID|SHA ...` when an answer of 200 had
 * named a batch's first position, and `again` when that said that the batch was known.
 */
export interface Ledger {
  readonly recorded: readonly string[];
  readonly acknowledged: readonly Acknowledged[];
  /** batches that were acknowledged as known */
  readonly again: number;
  /** events that the SDK did not take */
  readonly refused: number;
}

/** @param runId a trainer also delivers what others have left of other runs: that is not counted */
export function readLedger(files: readonly string[], runId: string): Ledger {
  const recorded: string[] = [];
  const acknowledged: Acknowledged[] = [];
  let [again, refused] = [0, 0];
  for (const file of files.filter((path) => existsSync(path))) {
    const text = readFileSync(file, 'utf8');
    // a line without its newline was torn by a kill
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      const [what, of, first, ...rest] = line.split(' ');
      if (what === 'recorded') recorded.push(of);
      if (what === 'again') again++;
      if (what === 'refused') refused++;
      if (what !== 'acknowledged' || of !== runId) continue;
      for (const [i, entry] of rest.entries()) {
        const [id, sha256] = entry.split('|');
        acknowledged.push({ id, sha256, position: Number(first) + i });
      }
    }
  }
  return { recorded, acknowledged, again, refused };
}

/** Notes an acknowledgement of a batch of NDJSON. */
export function noteAcknowledged(file: string, runId: string, firstPosition: number, ndjson: string): void {
  const entries = ndjson.split('\n').filter(Boolean);
  appendFileSync(file, `acknowledged ${runId} ${firstPosition} ${entries.map(entryOf).join(' ')}\n`);
}

const entryOf = (line: string) => `${idOf(line)}|${sha256Of(line)}`;

export function sha256Of(line: string | Uint8Array): string {
  return createHash('sha256').update(line).digest('hex');
}

/** What makes an event of the writers of these tests the only one of its kind in its run. */
export function idOf(line: string): string {
  const { type, trajectory, turn, trainingStep, metrics } = JSON.parse(line) as Record<string, unknown>;
  if (type === 'turn.recorded') return `${String(trajectory)}/${String(turn)}`;
  if (type === 'trajectory.ended') return `${String(trajectory)}/end`;
  return `${Object.keys(metrics as object)[0]}@${String(trainingStep)}`;
}
