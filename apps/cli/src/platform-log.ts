import { mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { errorRecord, masked } from '#lib/kernel';
import { pino, type DestinationStream, type Level, type Logger } from 'pino';
import { logFile } from './home-files.js';

const MAX_LOG_BYTES = 16 * 1024 * 1024;
const WARN = 40;
/** Lines that a full disk does not take; what comes beyond them is lost. */
const MAX_WAITING_BYTES = 1024 * 1024;

export interface PlatformLog {
  readonly logger: Logger;
  /** for the standard error of child processes */
  readonly fd: number;
}

/**
 * The platform's log: JSON lines in a file of its home, the one before kept beside it when it grew large. What a person
 * should know now is told in words as well.
 */
export function openPlatformLog(
  home: string,
  { level = 'info', tell }: { level?: Level; tell?: (line: string) => void } = {},
): PlatformLog {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const file = logFile(home);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  const fd = openSync(file, 'a', 0o600);
  const streams = [
    { level, stream: enduring(fd) },
    ...(tell ? [{ level: 'warn' as const, stream: { write: (line: string) => tell(inWords(line)) } }] : []),
  ];
  const serializers = { err: (error: unknown) => errorRecord(error), reason: masked };
  return { logger: pino({ name: 'recredit', level, serializers }, pino.multistream(streams)), fd };
}

/** A disk that is full costs lines of the log, not the platform. */
function enduring(fd: number): DestinationStream {
  const stream = pino.destination({ fd, sync: true, maxLength: MAX_WAITING_BYTES });
  stream.on('error', () => {});
  return stream;
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly message?: string };
  readonly reason?: string;
  readonly requestId?: string;
}

function inWords(line: string): string {
  const { level, msg, err, requestId, reason = err?.message } = JSON.parse(line) as LogLine;
  const why = reason ? `: ${reason.replace(/\s+/g, ' ')}` : '';
  return `${level > WARN ? 'error' : 'warning'}: ${msg}${why}${requestId ? ` (request ${requestId})` : ''}`;
}
