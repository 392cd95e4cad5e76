import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '#lib/protocol';
import { close, fsync, ftruncateSync, openSync, renameSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { TurnAddress } from './encode-event.js';
import { ACCEPTED, refusal, type Receipt } from './receipt.js';
import { countLines, endOfLine, listSpool, readLines, sizeOf, spoolFile, writeWhole } from './spool-files.js';

/** When a batch is full. What an event alone exceeds, it exceeds alone. */
export interface SealAt {
  readonly events: number;
  readonly bytes: number;
}

export const SEAL_AT: SealAt = { events: 2_000, bytes: 4 * 1024 * 1024 };

/** Acknowledged batches kept while there is room, for a server that comes back from an older backup. */
const MAX_SENT_FILES = 1_000;

/** A batch that is closed for writing. */
export interface SealedFile {
  readonly number: number;
  readonly events: number;
  readonly bytes: number;
}

interface OpenFile {
  readonly number: number;
  readonly fd: number;
  readonly since: number;
  events: number;
  bytes: number;
  /** by trajectory: the turn that must follow, as the platform refuses a batch in which a turn index skips */
  readonly nextTurn: Map<string, number>;
}

/** A producer's folder of batches: events are appended at one end, acknowledged at the other. */
export class Spool {
  private open: OpenFile | null = null;
  private readonly pending: SealedFile[];
  private readonly sent: { sequence: number; bytes: number }[];
  private nextNumber: number;
  private bytes: number;
  /** The sequence that the oldest pending batch will have on the wire. Batches refused for their content used none. */
  nextSequence: number;

  /** Takes up whatever lies in the folder; new events begin a new file. */
  constructor(
    readonly dir: string,
    private readonly maxBytes: number,
    private readonly sealAt: SealAt = SEAL_AT,
  ) {
    if (!(sealAt.events <= MAX_BATCH_EVENTS && sealAt.bytes <= MAX_BATCH_BYTES)) {
      throw new RangeError(`a batch holds up to ${MAX_BATCH_EVENTS} events and ${MAX_BATCH_BYTES} bytes`);
    }
    const found = listSpool(dir);
    this.pending = found.pending.map((number) => {
      const lines = readLines(spoolFile(dir, number, 'ndjson'));
      return { number, events: countLines(lines), bytes: lines.length };
    });
    this.sent = found.sent.map((sequence) => ({ sequence, bytes: sizeOf(spoolFile(dir, sequence, 'sent')) }));
    this.nextSequence = (found.sent.at(-1) ?? -1) + 1;
    this.nextNumber = Math.max(-1, ...found.pending, ...found.sent, ...found.refused) + 1;
    this.bytes = [...this.pending, ...this.sent].reduce((sum, file) => sum + file.bytes, 0);
    for (const empty of this.pending.filter((file) => file.events === 0)) this.forget(empty);
  }

  /** Events that no server has acknowledged or refused. */
  get unsent(): number {
    return this.pending.reduce((sum, file) => sum + file.events, this.open?.events ?? 0);
  }

  /** When the open batch began, by the clock that nobody sets (`performance.now`), or null while there is none. */
  get openSince(): number | null {
    return this.open?.since ?? null;
  }

  /** Records one line with one synchronous write. Recorded means: survives the death of this process. */
  append(line: string, bytes: number, turn: TurnAddress | null): Receipt {
    try {
      if (!this.makeRoom(bytes)) {
        return refusal('back-pressure', `${this.dir} holds ${this.maxBytes} bytes that no server has acknowledged`);
      }
      if (this.open && this.mustSeal(this.open, bytes, turn)) this.seal();
      this.open ??= this.openNext();
      this.write(this.open, line, bytes);
      if (turn) this.open.nextTurn.set(turn.trajectory, turn.turn + 1);
      if (this.open.events >= this.sealAt.events || this.open.bytes >= this.sealAt.bytes) this.seal();
      return ACCEPTED;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isFull = code === 'ENOSPC' || code === 'EDQUOT';
      if (isFull && this.dropSent()) return this.append(line, bytes, turn);
      return refusal(isFull ? 'back-pressure' : 'spool-failed', message);
    }
  }

  /** Closes the open batch: it can be sent, and no event joins it any more. */
  seal(): void {
    if (!this.open) return;
    const { number, events, bytes, fd } = this.open;
    this.open = null;
    if (events > 0) this.pending.push({ number, events, bytes });
    else rmSync(spoolFile(this.dir, number, 'ndjson'), { force: true });
    // Against the death of the machine, in the background; against that of the process the write was enough.
    fsync(fd, () => close(fd, () => {}));
  }

  /** The oldest batch that waits, or null. */
  next(): SealedFile | null {
    return this.pending[0] ?? null;
  }

  get sealed(): number {
    return this.pending.length;
  }

  /** Its whole lines: the bytes that go over the wire. */
  async read(file: SealedFile): Promise<Buffer> {
    const bytes = await readFile(spoolFile(this.dir, file.number, 'ndjson'));
    return bytes.subarray(0, file.bytes);
  }

  acknowledge(file: SealedFile): void {
    const sequence = this.nextSequence++;
    renameSync(spoolFile(this.dir, file.number, 'ndjson'), spoolFile(this.dir, sequence, 'sent'));
    this.pending.shift();
    this.sent.push({ sequence, bytes: file.bytes });
    while (this.sent.length > MAX_SENT_FILES) this.dropOldestSent();
  }

  /** The first events of a batch were acknowledged as a batch of their own; the others remain. */
  acknowledgeHead(file: SealedFile, lines: Uint8Array, events: number): void {
    const rest = lines.subarray(endOfLine(lines, events));
    writeWhole(spoolFile(this.dir, file.number, 'ndjson'), rest);
    this.nextSequence++;
    this.pending[0] = { number: file.number, events: file.events - events, bytes: rest.length };
    this.bytes -= lines.length - rest.length;
  }

  /** Sets a batch aside with the answer it got; the next one takes its sequence. */
  setAside(file: SealedFile, problem: unknown): void {
    writeWhole(spoolFile(this.dir, file.number, 'problem.json'), `${JSON.stringify(problem, null, 2)}\n`);
    renameSync(spoolFile(this.dir, file.number, 'ndjson'), spoolFile(this.dir, file.number, 'refused'));
    this.forget(file);
  }

  /**
   * Makes acknowledged batches pending again, from `sequence` on: the server has lost them.
   *
   * @returns how many events that are, or null when a copy of one of them is not there any more; nothing changes then
   */
  rewindTo(sequence: number): number | null {
    const lost = this.sent.filter((file) => file.sequence >= sequence);
    if (sequence < 0 || lost.length !== this.nextSequence - sequence || lost.some((file) => file.bytes === 0))
      return null;
    const again = lost.map((file) => {
      renameSync(spoolFile(this.dir, file.sequence, 'sent'), spoolFile(this.dir, file.sequence, 'ndjson'));
      const lines = readLines(spoolFile(this.dir, file.sequence, 'ndjson'));
      return { number: file.sequence, events: countLines(lines), bytes: lines.length };
    });
    // A batch's number is never below its sequence, so these come before all that wait.
    this.pending.unshift(...again);
    this.sent.splice(this.sent.length - lost.length);
    this.nextSequence = sequence;
    return again.reduce((sum, file) => sum + file.events, 0);
  }

  private mustSeal(open: OpenFile, bytes: number, turn: TurnAddress | null): boolean {
    if (open.events > 0 && open.bytes + bytes > this.sealAt.bytes) return true;
    const expected = turn ? open.nextTurn.get(turn.trajectory) : undefined;
    return expected !== undefined && expected !== turn!.turn;
  }

  private openNext(): OpenFile {
    const number = this.nextNumber;
    // Appending, so that after a torn line was cut off the next one follows the last whole one.
    const fd = openSync(spoolFile(this.dir, number, 'ndjson'), 'ax');
    this.nextNumber++;
    return { number, fd, since: performance.now(), events: 0, bytes: 0, nextTurn: new Map() };
  }

  private write(open: OpenFile, line: string, bytes: number): void {
    let written = 0;
    try {
      written = writeSync(open.fd, line);
      if (written < bytes) throw Object.assign(new Error(`${written} of ${bytes} bytes written`), { code: 'ENOSPC' });
    } catch (error) {
      this.dropTorn(open);
      throw error;
    }
    open.events++;
    open.bytes += bytes;
    this.bytes += bytes;
  }

  /** Nothing may follow a torn line, or the two would be one. */
  private dropTorn(open: OpenFile): void {
    try {
      ftruncateSync(open.fd, open.bytes);
    } catch {
      this.seal();
    }
  }

  private makeRoom(bytes: number): boolean {
    while (this.bytes + bytes > this.maxBytes && this.sent.some((file) => file.bytes > 0)) this.dropOldestSent();
    return this.bytes + bytes <= this.maxBytes;
  }

  /** Gives the disk back what is acknowledged. false: there was nothing to give. */
  private dropSent(): boolean {
    const had = this.sent.some((file) => file.bytes > 0);
    while (this.sent.some((file) => file.bytes > 0)) this.dropOldestSent();
    return had;
  }

  /** The newest keeps its name, which says what sequence comes next. */
  private dropOldestSent(): void {
    const [{ sequence, bytes }] = this.sent;
    const path = spoolFile(this.dir, sequence, 'sent');
    this.bytes -= bytes;
    if (this.sent.length > 1) {
      this.sent.shift();
      rmSync(path, { force: true });
    } else {
      this.sent[0] = { sequence, bytes: 0 };
      truncateSync(path, 0);
    }
  }

  private forget(file: SealedFile): void {
    this.pending.splice(this.pending.indexOf(file), 1);
    this.bytes -= file.bytes;
    rmSync(spoolFile(this.dir, file.number, 'ndjson'), { force: true });
  }
}
