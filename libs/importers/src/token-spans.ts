/** From one index of a token sequence up to another, which is not in it. */
export type Span = readonly [from: number, to: number];

/** The runs of tokens whose mask is set: the policy's own, with what the environment said between them. */
export function spansOf<Mask>(masks: readonly Mask[], isOwn: (mask: Mask) => boolean): Span[] {
  const spans: Span[] = [];
  for (let i = 0; i < masks.length;) {
    if (!isOwn(masks[i])) {
      i++;
      continue;
    }
    let end = i + 1;
    while (end < masks.length && isOwn(masks[end])) end++;
    spans.push([i, end]);
    i = end;
  }
  return spans;
}

/** Columns over a whole sequence, cut to some of its spans. One that is shorter than the sequence says null there. */
export function spanTokens(
  columns: Readonly<Record<string, readonly (number | null)[] | undefined>>,
  spans: readonly Span[],
): Record<string, (number | null)[]> {
  return Object.fromEntries(
    Object.entries(columns).flatMap(([name, values]) =>
      values
        ? [[name, spans.flatMap(([from, to]) => Array.from({ length: to - from }, (_, k) => values[from + k] ?? null))]]
        : [],
    ),
  );
}
