import type { BenchRow } from './bench-row.js';

/** What `npm run bench -- NAME --turns N` says; each benchmark has its own defaults. */
export interface BenchOptions {
  readonly turns?: number;
  readonly events?: number;
  readonly batches?: number;
}

/** A group of rows that is measured together. Nothing here ever fails for being slow. */
export interface Benchmark {
  readonly name: string;
  run(options?: BenchOptions): Promise<BenchRow[]>;
}

/** One row per measured thing, all against one yardstick, which comes first. */
export function rowsAgainst(
  unit: string,
  [yardstick, base]: readonly [name: string, value: number],
  measured: readonly (readonly [name: string, value: number])[],
): BenchRow[] {
  const row = ([name, value]: readonly [string, number]) => ({
    name,
    value: Math.round(value),
    unit,
    yardstick,
    ratio: value / base,
  });
  return [row([yardstick, base]), ...measured.map(row)];
}
