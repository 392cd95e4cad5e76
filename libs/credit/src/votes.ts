import { z } from 'zod';
import { Flag } from './signal-kinds.js';

/** A flag that was asked for once, or once per attempt; null: that attempt failed. */
export const Attempts = z.union([Flag.transform((flag) => [flag]), z.array(Flag.nullable())]);
export type Attempts = readonly (number | null)[];

/** Share of the attempts that said yes, the failed ones not counting; 0 where all failed. */
export function shareOfYes(attempts: Attempts): number {
  const said = attempts.filter((flag): flag is number => flag !== null);
  return said.length === 0 ? 0 : said.reduce((sum, flag) => sum + flag, 0) / said.length;
}

/** The key with the most votes, the first seen of several; null without a vote. */
export function firstOfMost(votes: ReadonlyMap<string, number>): string | null {
  let [selected, most]: [string | null, number] = [null, -Infinity];
  for (const [key, weight] of votes) if (weight > most) [selected, most] = [key, weight];
  return selected;
}
