import type { Random } from '#lib/numeric';
import type { Sampled } from './sample-group.js';

/** What becomes of rollouts in real training: some are lost, so that groups differ in size, and some are rejected. */
export interface Mishaps {
  /** Those of a group that are left, the rejected ones with the signal `excluded`; at least one is left. */
  of(group: readonly Sampled[]): Sampled[];
}

/** @param lost, rejected shares of the rollouts */
export function mishaps(random: Random, { lost, rejected }: { lost: number; rejected: number }): Mishaps {
  return {
    of(group) {
      const left = group.filter((_, i) => random.next() >= lost || i === group.length - 1);
      return left.map((sampled) => {
        const { record } = sampled;
        const excluded = random.next() < rejected;
        return { ...sampled, record: { ...record, signals: { ...record.signals, excluded } } };
      });
    },
  };
}
