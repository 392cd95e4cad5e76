/** What was wrong with one line of a batch or file. */
export interface LineIssue {
  /** from 1 */
  readonly line: number;
  /** JSON pointer into the line; '' is the whole of it */
  readonly pointer: string;
  readonly expected: string;
  readonly found: string;
}

/** A value as a person can read it in a message: short, and never a whole payload. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  const text = spelled(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Lists of lists of lists end no recursion, and a cycle none at all. */
function spelled(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object';
  }
}
