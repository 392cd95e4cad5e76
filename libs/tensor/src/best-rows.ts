/** The best rows of each query, as many as were asked for, while more come along. */
export interface BestRows {
  /** rows kept of a query, at most; above 0 */
  readonly k: number;
  /** [queries] how many are kept */
  readonly counts: Int32Array;
  /** [queries] what the value of a row has to exceed for it to be kept */
  readonly least: Float32Array;
  /** [queries × k] per query a heap: nothing in it is worse than what stands above, so the first is the one to go */
  readonly rows: Int32Array;
  /** [queries × k] */
  readonly values: Float32Array;
}

export function noRows(queries: number, k: number): BestRows {
  return {
    k,
    counts: new Int32Array(queries),
    least: new Float32Array(queries).fill(-Infinity),
    rows: new Int32Array(queries * k),
    values: new Float32Array(queries * k),
  };
}

/**
 * Keeps a row for a query, in place of the worst one where there are k already.
 *
 * @param row above all that were kept before: of equal values the row of the lower number is the better one
 * @param value above `least` of the query
 */
export function keepRow(best: BestRows, query: number, row: number, value: number): void {
  const { k, counts, least, rows, values } = best;
  const start = query * k;
  const place = counts[query] < k ? risen(best, start, counts[query]++, row, value) : sunk(best, start, row, value);
  values[start + place] = value;
  rows[start + place] = row;
  if (counts[query] === k) least[query] = values[start];
}

/** Where a row that is put behind the last one comes to stand. */
function risen(best: BestRows, start: number, last: number, row: number, value: number): number {
  let place = last;
  while (place > 0) {
    const above = (place - 1) >> 1;
    if (!isWorse(value, row, best.values[start + above], best.rows[start + above])) break;
    move(best, start + above, start + place);
    place = above;
  }
  return place;
}

/** Where a row that is put in place of the first one comes to stand. */
function sunk(best: BestRows, start: number, row: number, value: number): number {
  const { k, values, rows } = best;
  let place = 0;
  for (;;) {
    const left = 2 * place + 1;
    if (left >= k) return place;
    const right = left + 1;
    const isRight =
      right < k && isWorse(values[start + right], rows[start + right], values[start + left], rows[start + left]);
    const below = isRight ? right : left;
    if (!isWorse(values[start + below], rows[start + below], value, row)) return place;
    move(best, start + below, start + place);
    place = below;
  }
}

const isWorse = (value: number, row: number, than: number, thanRow: number) =>
  value < than || (value === than && row > thanRow);

function move({ values, rows }: BestRows, from: number, to: number): void {
  values[to] = values[from];
  rows[to] = rows[from];
}

/** The places of what is kept for a query, in `rows` and `values`: best first. */
export function sortedPlaces({ k, counts, rows, values }: BestRows, query: number): Int32Array {
  const places = Int32Array.from({ length: counts[query] }, (_, i) => query * k + i);
  return places.sort((a, b) => values[b] - values[a] || rows[a] - rows[b]);
}
