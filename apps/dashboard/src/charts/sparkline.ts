/**
 * The path of a small line through values of 0 to 1, for an SVG of this size.
 *
 * @param values NaN: a gap
 */
export function sparkline(values: Float64Array, width: number, height: number): string {
  const across = values.length > 1 ? width / (values.length - 1) : 0;
  const y = (value: number) => ((1 - Math.min(1, Math.max(0, value))) * (height - 2) + 1).toFixed(1);
  let path = '';
  let isGap = true;
  values.forEach((value, i) => {
    if (!Number.isNaN(value)) path += `${isGap ? 'M' : 'L'}${(i * across).toFixed(1)} ${y(value)}`;
    isGap = Number.isNaN(value);
  });
  return path;
}

/** Stretched to 0 … 1 between the lowest and the highest; all in the middle where they are equal. */
export function toUnit(values: Float64Array): Float64Array {
  const said = values.filter((value) => !Number.isNaN(value));
  const low = said.reduce((least, value) => Math.min(least, value), Infinity);
  const high = said.reduce((most, value) => Math.max(most, value), -Infinity);
  return values.map((value) => (high > low ? (value - low) / (high - low) : value - low + 0.5));
}
