import { canonicalJson } from '#lib/kernel';
import { createHash } from 'node:crypto';

/** A short name of a value, the same wherever the value is met. */
export function digestOf(value: unknown, length = 8): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, length);
}

/** Names and numbers them where they come again: equal trajectories of one group are still two. */
export class Occurrences {
  private readonly counts = new Map<string, number>();

  name(name: string): string {
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  }
}

/** A text of a file as a name: without what names must not hold, and short enough. */
export function nameOf(text: string | number): string {
  const clean = String(text)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  if (clean === '') return '-';
  return clean.length <= MAX_NAME ? clean : `${clean.slice(0, MAX_NAME - 9).toWellFormed()}-${digestOf(text)}`;
}

/** Names end at 512; ids are made of several. */
const MAX_NAME = 200;

/** A record without what it does not say. */
export function said<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
