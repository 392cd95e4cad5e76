/**
 * Sentences are for people: a number below 0 has a true minus sign in them, as on the dashboard and in what the command
 * line prints. Programs read the numbers beside a sentence, never the sentence.
 */
const MINUS = '−';

/** A share for a sentence: `62 %`, `0.4 %`, `−20 %`; never 0 % or 100 % for what is not exactly that. */
export function percent(share: number): string {
  const size = Math.abs(share) * 100;
  if (size === 0) return '0 %';
  const sign = share < 0 ? MINUS : '';
  const digits = size < 1 || size > 99 ? 1 : 0;
  const rounded = Number(size.toFixed(digits));
  if (rounded === 0) return `${sign ? '>' : '<'} ${sign}0.1 %`;
  return rounded === 100 && size !== 100 ? `${sign ? '<' : '>'} ${sign}99.9 %` : `${sign}${rounded} %`;
}

/** To make one takes fifty times as long as to ask it (25 µs), and figures hold a note of each place that they point at. */
const THREE_DIGITS = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** A number for a sentence, three digits that matter: `0.0123`, `−1.23`, `12,300`. */
export function figure(value: number): string {
  return value < 0 ? MINUS + THREE_DIGITS.format(-value) : THREE_DIGITS.format(Math.abs(value));
}

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** How many there are, to the last one: `12`, `1,034`. */
export function count(value: number): string {
  return WHOLE.format(value);
}

/**
 * What stands before a noun wherever the number may be one: `1 task`, `1,034 tasks`, `1.5 turns`.
 *
 * Of several, the noun follows the last number: `1 of 40 tasks`, `1 of 1 task`.
 */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${Number.isInteger(value) ? count(value) : figure(value)} ${value === 1 ? singular : plural}`;
}

/** The verb after a part of several: `1 of 40 tasks is`, `0 of 40 tasks are`, `0 of 1 task is`. */
export function agreeing(part: number, whole: number, one: string, several: string): string {
  return part === 1 || whole === 1 ? one : several;
}
