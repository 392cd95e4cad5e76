import { jsonValues, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { Flag } from './signal-kinds.js';

/** A flag that was asked for once, or once per attempt; null: that attempt failed. */
export const Attempts = z.union([Flag.transform((flag) => [flag]), z.array(Flag.nullable())]);
export type Attempts = readonly (number | null)[];

/**
 * What each row's attempts said. Where annotators voted, `name@annotator` and `name@annotator#attempt` are the attempts, all
 * of them; a row without a vote has what its signal says, which may be a list of attempts itself.
 *
 * @param values [rows] of the signal, whole
 * @returns [rows]
 */
export function attemptsOf(
  { columns }: Pick<TrajectoryBatch, 'columns'>,
  path: SignalPath,
  values: readonly (Attempts | null)[],
): Attempts[] {
  const voters = [...columns].filter(([name]) => name.startsWith(`${path}@`)).map(([, column]) => jsonValues(column));
  return values.map((own, row) => {
    const votes = voters.flatMap((said) => Attempts.safeParse(said[row]).data ?? []);
    return votes.length > 0 ? votes : own!;
  });
}

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
