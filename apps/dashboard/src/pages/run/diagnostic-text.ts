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

/** With a full stop and a capital, unless it begins with the path of a signal. */
export function sentence(text: string): string {
  const first = /^\w+\.\w/.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase();
  return `${first}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

interface Told {
  readonly value: number | null;
  readonly reading: string;
  readonly headline: string;
  readonly missing: readonly string[];
  readonly failed: readonly string[];
  readonly reasons: unknown;
}

/** What it says; where it has no number the failure, the signals that it lacks, or why its value is undefined. */
export function saidOf({ value, reading, headline, missing, failed, reasons }: Told): string {
  if (value !== null) return reading;
  const because = [...failed.map((reason) => `failed: ${reason}`), ...missing];
  return because.length > 0 ? because.join('; ') : ((reasons as Record<string, string>)[headline] ?? reading);
}
