/**
 * The mean that a read model's sum comes to; null where nothing was added up, or so much that the sum overflowed. Not
 * done in SQL: Postgres refuses a quotient that underflows (5e-324 / 2).
 */
export function meanOf(sum: number, count: number): number | null {
  const mean = sum / count;
  return Number.isFinite(mean) ? mean : null;
}
