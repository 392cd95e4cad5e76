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
