/** Training steps from the first to the last, both of them included. */
export type StepRange = readonly [first: number, last: number];

/**
 * The stretch that an address names, such as `10..25`, cut to what there is.
 *
 * @returns undefined: all of it, also where no two steps of it are there
 */
export function stretchOf(text: string | undefined, [first, last]: StepRange): StepRange | undefined {
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(text ?? '') ?? [];
  if (from === undefined) return undefined;
  const stretch = [Math.max(first, Number(from)), Math.min(last, Number(to))] as const;
  return stretch[0] < stretch[1] ? stretch : undefined;
}

/** What the address says of a stretch; undefined: nothing, it is all there is. */
export function textOf([from, to]: StepRange, [first, last]: StepRange): string | undefined {
  const [low, high] = [Math.max(first, Math.round(from)), Math.min(last, Math.round(to))];
  if (low >= high) return undefined;
  return low === first && high === last ? undefined : `${low}..${high}`;
}
