/** The rows with the highest scores above 0, at most `count` of them; of equal scores the earlier offered stays. */
export class TopRows {
  private readonly rows: Int32Array;
  private readonly scores: Float64Array;
  private size = 0;
  /** where the weakest row lies, once full */
  private weakest = 0;

  constructor(count: number) {
    this.rows = new Int32Array(count);
    this.scores = new Float64Array(count);
  }

  /** Rows are offered in ascending order. */
  offer(row: number, score: number): void {
    if (!(score > 0)) return;
    if (this.size < this.rows.length) {
      this.place(this.size++, row, score);
    } else if (this.size > 0 && score > this.scores[this.weakest]) {
      this.place(this.weakest, row, score);
    }
  }

  descending(): { readonly row: number; readonly score: number }[] {
    const kept = Array.from(this.rows.subarray(0, this.size), (row, i) => ({ row, score: this.scores[i] }));
    return kept.sort((a, b) => b.score - a.score || a.row - b.row);
  }

  private place(at: number, row: number, score: number): void {
    this.rows[at] = row;
    this.scores[at] = score;
    if (this.size === this.rows.length) this.weakest = this.findWeakest();
  }

  private findWeakest(): number {
    let weakest = 0;
    for (let i = 1; i < this.size; i++) {
      const difference = this.scores[i] - this.scores[weakest];
      if (difference < 0 || (difference === 0 && this.rows[i] > this.rows[weakest])) weakest = i;
    }
    return weakest;
  }
}
