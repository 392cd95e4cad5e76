/** Four times what one event may hold: what is larger is passed over without being kept in memory. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** The bytes of one record; null: too large. */
export interface Piece {
  /** line from 1, or index from 0 */
  readonly number: number;
  readonly bytes: Uint8Array | null;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The value a piece spells, or why it spells none. */
export function valueOf({ bytes }: Piece): { value: unknown } | { why: string } {
  if (!bytes) return { why: `larger than ${MAX_RECORD_BYTES} bytes` };
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { why: 'not UTF-8' };
  }
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { why: `not JSON: ${(error as Error).message}` };
  }
}

/** The same of what Python wrote, which spells numbers that JSON does not have: NaN and Infinity become null. */
export function pythonValueOf(piece: Piece): { value: unknown } | { why: string } {
  const read = valueOf(piece);
  if ('value' in read || !piece.bytes) return read;
  const text = Buffer.from(piece.bytes).toString();
  if (!/NaN|Infinity/.test(text)) return read;
  try {
    return { value: JSON.parse(outsideStrings(text, (part) => part.replace(/-?\b(?:NaN|Infinity)\b/g, 'null'))) };
  } catch {
    return read;
  }
}

function outsideStrings(text: string, change: (part: string) => string): string {
  const parts: string[] = [];
  for (let start = 0; ;) {
    const open = text.indexOf('"', start);
    if (open < 0) return parts.concat(change(text.slice(start))).join('');
    let close = open + 1;
    while (close < text.length && text[close] !== '"') close += text[close] === '\\' ? 2 : 1;
    parts.push(change(text.slice(start, open)), text.slice(open, close + 1));
    start = close + 1;
  }
}
