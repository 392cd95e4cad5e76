import { tokenCount, type Signals, type TokenColumns } from '#lib/protocol';
import type { Level } from '#lib/dataset';
import type { ReadModel } from './read-model.js';
import { storable } from './storable.js';
import type { WorkingRows } from './working-rows.js';

/** recorded: came with the trajectory. annotated: came later. */
export type SignalSource = 'recorded' | 'annotated';

export interface SignalSummaryRow {
  readonly source: SignalSource;
  readonly level: Level;
  readonly name: string;
  /** of the level, that carry it and not as null */
  rows: number;
  /** of these, numbers and flags; 0 for tokens, which are counted and not looked at */
  numbers: number;
  minimum: number | null;
  maximum: number | null;
  sum: number;
}

export const signalSummaryModel: ReadModel<SignalSummaryRow> = {
  table: 'signal_summary',
  key: ['source', 'level', 'name'],
  columns: {
    source: 'text',
    level: 'text',
    name: 'text',
    rows: 'bigint',
    numbers: 'bigint',
    minimum: 'double precision',
    maximum: 'double precision',
    sum: 'double precision',
  },
};

/** Where the names of signals are unique. */
export function signalScope(source: SignalSource, level: Level): string {
  return SCOPES[source][level];
}

const SCOPES = {
  recorded: { trajectory: 'recorded trajectory', turn: 'recorded turn', token: 'recorded token' },
  annotated: { trajectory: 'annotated trajectory', turn: 'annotated turn', token: 'annotated token' },
} as const;

/** Counts the named values of one row of a level. null and undefined are no values. */
export function countSignals(
  summaries: WorkingRows<SignalSummaryRow>,
  source: SignalSource,
  level: Level,
  signals: Readonly<Record<string, unknown>>,
): void {
  for (const name in signals) {
    const value = signals[name];
    if (value === null || value === undefined) continue;
    const summary = summaryOf(summaries, source, level, name);
    summary.rows++;
    if (typeof value === 'number' || typeof value === 'boolean') addNumber(summary, Number(value));
  }
}

export function countTokens(summaries: WorkingRows<SignalSummaryRow>, tokens: TokenColumns): void {
  for (const name in tokens) summaryOf(summaries, 'recorded', 'token', name).rows += tokenCount(tokens[name]);
}

/** The signals of a row, with the protocol's own fields among them under their names, as estimators read them. */
export function withFields(signals: Signals | undefined, fields: Readonly<Record<string, unknown>>) {
  return signals ? { ...signals, ...fields } : fields;
}

function summaryOf(summaries: WorkingRows<SignalSummaryRow>, source: SignalSource, level: Level, sent: string) {
  const scope = signalScope(source, level);
  const known = summaries.change(sent, scope);
  if (known) return known;
  const name = storable(sent);
  return (
    summaries.change(name, scope) ??
    summaries.add({ source, level, name, rows: 0, numbers: 0, minimum: null, maximum: null, sum: 0 })
  );
}

function addNumber(summary: SignalSummaryRow, value: number): void {
  summary.numbers++;
  summary.sum += value;
  if (summary.minimum === null || value < summary.minimum) summary.minimum = value;
  if (summary.maximum === null || value > summary.maximum) summary.maximum = value;
}
