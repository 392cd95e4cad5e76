export const CREDIT_FORMAT = 'recredit.credit/1';

/** Columns that are no explanation, by level. `credit` stands at the level of the credit. */
export const OWN_CREDIT_COLUMNS = {
  trajectory: new Set(['trajectory', 'group', 'groupKey', 'credit', 'turns']),
  turn: new Set(['turn', 'credit', 'tokens']),
  token: new Set(['credit', 'mask']),
} as const;

/** Field metadata: `group` or `shard`, where the values of one were repeated on the trajectories. */
export const REPEATED = 'recredit.level';
/** Field metadata: the values are labels. */
export const PARTITION = 'recredit.partition';
