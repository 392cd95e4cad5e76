import { count, decimal, percent } from '../../text/numbers.js';

const isShare = (name: string) => /(fraction|share|rate)$/i.test(name);

/** A value of a diagnostic in its unit: shares as percent, whole numbers as such. */
export function valueText(name: string, value: number | null | undefined): string {
  if (value == null) return '–';
  if (isShare(name) && Math.abs(value) <= 1) return percent(value);
  return Number.isInteger(value) ? count(value) : decimal(value);
}

/** groupFraction: group fraction */
export function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** With a capital and a full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
