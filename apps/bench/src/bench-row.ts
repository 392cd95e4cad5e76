/** One measured line of `npm run bench`. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** what it is measured against, in the same run on the same machine */
  readonly yardstick: string;
  /** value / yardstick's value */
  readonly ratio: number;
}
