import type { HeatCell } from '../../charts/heat-map.js';

export interface RankedPair {
  readonly a: string;
  readonly b: string;
  readonly spearman: number | null;
}

/** Both halves of the matrix, without its diagonal; a correlation that is undefined leaves its cells empty. */
export function matrixCells(ids: readonly string[], pairs: readonly RankedPair[]): HeatCell[] {
  return pairs.flatMap(({ a, b, spearman }) => {
    const [row, column] = [ids.indexOf(a), ids.indexOf(b)];
    if (spearman === null || row < 0 || column < 0) return [];
    const cell = { share: spearman, value: spearman };
    return [
      { ...cell, row, column },
      { ...cell, row: column, column: row },
    ];
  });
}
