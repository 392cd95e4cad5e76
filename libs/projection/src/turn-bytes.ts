import type { Text, TokenColumns, Turn } from '#lib/protocol';

/** also what a trajectory without turns takes */
export const PER_TRAJECTORY = 256;
const PER_TURN = 64;
const PER_NUMBER = 8;

/** About what a turn takes in memory, cheap to say: it only bounds how much one segment holds. */
export function turnBytes({ state, action, tokens }: Turn): number {
  return PER_TURN + textBytes(state) + textBytes(action) + (tokens ? tokenBytes(tokens) : 0);
}

function textBytes(text: Text | undefined): number {
  if (text === undefined) return 0;
  if (typeof text === 'string') return text.length;
  return text.reduce((sum, { content, ...rest }) => {
    const plain = typeof content === 'string';
    return sum + (plain ? content.length : JSON.stringify(content ?? rest).length);
  }, 0);
}

function tokenBytes(tokens: TokenColumns): number {
  return Object.values(tokens).reduce((sum, column) => {
    if (Array.isArray(column)) return sum + PER_NUMBER * column.length;
    return sum + ('f32' in column ? column.f32.length : column.f16.length);
  }, 0);
}
