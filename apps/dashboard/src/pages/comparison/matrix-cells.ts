import type { HeatCell } from '../../charts/heat-map.js';

interface Pair {
  readonly a: string;
  readonly b: string;
}

export interface RankedPair extends Pair {
  readonly spearman: number | null;
}

/** How two agree: the number, and its place on a scale of -1 to 1 with chance in the middle. */
export interface Agreement {
  readonly value: number;
  readonly share: number;
}

export function rankAgreement({ spearman }: Pick<RankedPair, 'spearman'>): Agreement | null {
  return spearman === null ? null : { value: spearman, share: spearman };
}

/**
 * Both halves of the matrix, without its diagonal.
 *
 * @param agreement null: undefined, which leaves the cells of the pair empty
 */
export function matrixCells<P extends Pair>(
  ids: readonly string[],
  pairs: readonly P[],
  agreement: (pair: P) => Agreement | null,
): HeatCell[] {
  return pairs.flatMap((pair) => {
    const [row, column] = [ids.indexOf(pair.a), ids.indexOf(pair.b)];
    const cell = agreement(pair);
    if (cell === null || row < 0 || column < 0) return [];
    return [
      { ...cell, row, column },
      { ...cell, row: column, column: row },
    ];
  });
}
