import { RecreditError } from './errors.js';

/** What a log may keep of an error. */
export interface ErrorRecord {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorRecord;
}

const MAX_CAUSES = 5;

/**
 * What a log may keep of anything that was thrown: where it came from and what kind it is, and nothing that a user sent.
 * Errors of others quote what they stumbled over (JSON.parse, Postgres on a value) and carry it in further fields, so
 * only named fields are taken and quoted text is left out. Of our own errors the details stay behind. Keys and passwords
 * in addresses are masked wherever they stand.
 */
export function errorRecord(thrown: unknown, causes = MAX_CAUSES): ErrorRecord {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: 'what was thrown is no error' };
  const { code, cause } = thrown as { code?: unknown; cause?: unknown };
  const clean = quotesOnlyOurs(thrown, code) ? masked : unquoted;
  return {
    type: thrown.name,
    message: clean(thrown.message),
    ...(typeof code === 'string' && { code }),
    ...(thrown.stack && { stack: clean(thrown.stack) }),
    ...(cause !== undefined && causes > 0 && { cause: errorRecord(cause, causes - 1) }),
  };
}

/** Postgres' class 42 names tables and columns of our own statements. */
function quotesOnlyOurs(thrown: Error, code: unknown): boolean {
  if (thrown instanceof RecreditError) return thrown.status >= 500;
  return typeof code === 'string' && code.startsWith('42');
}

function unquoted(text: string): string {
  return masked(text).replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\\n]|\\.)*'/gs, '"..."');
}

/** Without the secrets of keys and the passwords of addresses. */
export function masked(text: string): string {
  return text.replace(/\b(rk_[0-9a-f]+)_[0-9a-f]+/gi, '$1_...').replace(/(\w+:\/\/[^\s:/@]*):[^\s@]*@/g, '$1:...@');
}
