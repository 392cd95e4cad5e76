import type { NumericValues } from '#lib/dataset';

/**
 * What the chunks of a response are: `a` the first with the right answer, `b` all before it, `d` those after it that have
 * the answer, `c` those that have not. A wrong response, or one that never says the answer, is all `b`.
 *
 * @param containsAnswer [turns]
 * @param from, to the turns of one response
 */
export function chunkTypes(isRight: boolean, containsAnswer: NumericValues, from: number, to: number): string[] {
  const types: string[] = [];
  let isFound = false;
  for (let t = from; t < to; t++) {
    const has = isRight && containsAnswer[t] === 1;
    types.push(isFound ? (has ? 'd' : 'c') : has ? 'a' : 'b');
    isFound ||= has;
  }
  return types;
}

/** Lengths of chunks in whole tokens, cut where the response reaches its longest. */
export function cutLengths(
  tokens: NumericValues,
  turnOffsets: Int32Array,
  longest: number,
): { lengths: Int32Array; cut: number } {
  const lengths = new Int32Array(tokens.length);
  let cut = 0;
  for (let i = 0; i + 1 < turnOffsets.length; i++) {
    let left = longest;
    for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) {
      const wanted = Math.max(0, Math.floor(tokens[t]));
      lengths[t] = Math.min(wanted, left);
      if (wanted > left) cut++;
      left -= lengths[t];
    }
  }
  return { lengths, cut };
}
