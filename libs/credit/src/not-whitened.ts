/** The warning that fewer than two positions were left as they are: they have no spread to divide by. */
export function notWhitened(count: number, of: 'tokens' | 'turns'): string[] {
  return count === 1 ? [`not whitened: one of the ${of} is all there is`] : [];
}
