/** A place that a diagnostic points at. */
export interface Evidence {
  readonly trainingStep: number;
  readonly group: string | null;
  readonly trajectory: string | null;
  readonly turn: number | null;
  readonly note: string;
}

/** The place as closely as it is known, and what is to be seen there: `turn 3 of t1 in step 2: 5 votes disagree`. */
export function evidenceText({ trainingStep, group, trajectory, turn, note }: Evidence): string {
  const what = trajectory !== null && turn !== null ? `turn ${turn} of ${trajectory}` : (trajectory ?? group);
  return `${what === null ? '' : `${what} in `}step ${trainingStep}: ${note}`;
}
