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
