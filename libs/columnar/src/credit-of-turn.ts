import type { Column } from '#lib/credit';
import type { Level } from '#lib/dataset';
import type { CreditFile } from './open-credit.js';

type Said = number | string | null;

/** What a credit file says about one turn. */
export interface CreditOfTurn {
  /** a trajectory's credit holds for each of its turns, of tokens it is the mean of those with mask 1; null: nothing is said */
  readonly credit: number | null;
  /** what carries it; null: there is no such turn */
  readonly level: Level | null;
  /** [tokens] of credit per token; null: it is given higher up */
  readonly tokenCredit: readonly (number | null)[] | null;
  /** explain columns by name; a list where a row holds one, and per token */
  readonly explain: Readonly<Record<string, Said | readonly Said[] | readonly (readonly Said[])[]>>;
}

/**
 * The credit of a turn and what it was made of, from any level.
 *
 * @param wanted what is not is empty: `explain` of 1,280 turns by three estimators is 3 MB of objects
 */
export function creditOfTurn(
  file: CreditFile,
  trajectory: string,
  turn: number,
  wanted: { readonly explain: boolean; readonly tokens: boolean } = { explain: true, tokens: true },
): CreditOfTurn {
  const row = file.rowOf.get(trajectory);
  if (row === undefined) return NO_CREDIT;
  const at = { row, turn: turnRow(file, row, turn) };
  if (at.turn < 0) return NO_CREDIT;
  const { level, values, explain: columns = {} } = file.credit;
  const tokens = wanted.tokens && level === 'token' ? tokensOf(file, at.turn) : null;
  return {
    credit: creditAtTurn(file, at),
    level,
    tokenCredit: tokens && tokens.map((token) => value(values, token) as number | null),
    explain: wanted.explain ? explainOf(file, columns, at) : NO_CREDIT.explain,
  };
}

/** What is said of a turn that is not there. */
export const NO_CREDIT: CreditOfTurn = { credit: null, level: null, tokenCredit: null, explain: {} };

function explainOf(file: CreditFile, columns: Readonly<Record<string, Column>>, at: Address): CreditOfTurn['explain'] {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, saidOf(file, column, at)]));
}

interface Address {
  readonly row: number;
  /** -1: there is no such turn */
  readonly turn: number;
}

function turnRow({ turnOffsets }: CreditFile, row: number, turn: number): number {
  const at = turnOffsets[row] + turn;
  return turn >= 0 && at < turnOffsets[row + 1] ? at : -1;
}

function creditAtTurn(file: CreditFile, { row, turn }: Address): number | null {
  const { level, values } = file.credit;
  if (level !== 'token') return value(values, level === 'trajectory' ? row : turn) as number | null;
  let [sum, count] = [0, 0];
  for (const token of tokensOf(file, turn)) {
    if (file.mask?.[token] === 0 || Number.isNaN(values[token])) continue;
    sum += values[token];
    count++;
  }
  return count > 0 ? sum / count : null;
}

function saidOf(file: CreditFile, column: Column, { row, turn }: Address) {
  switch (column.level) {
    case 'shard':
      return rowOf(column, 0);
    case 'group':
      return rowOf(column, file.groupOf[row]);
    case 'trajectory':
      return rowOf(column, row);
    case 'turn':
      return rowOf(column, turn);
    case 'token':
      return tokensOf(file, turn).map((token) => rowOf(column, token)) as Said[] | Said[][];
  }
}

function rowOf({ values, offsets }: Column, row: number): Said | Said[] {
  if (!offsets) return value(values, row);
  return Array.from({ length: offsets[row + 1] - offsets[row] }, (_, k) => value(values, offsets[row] + k));
}

function value(values: Column['values'], row: number): Said {
  const found = values[row] ?? null;
  return Number.isNaN(found) ? null : found;
}

function tokensOf({ tokenOffsets }: CreditFile, turn: number): number[] {
  if (!tokenOffsets) return [];
  return Array.from({ length: tokenOffsets[turn + 1] - tokenOffsets[turn] }, (_, k) => tokenOffsets[turn] + k);
}
