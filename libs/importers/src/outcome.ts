/** Whether a task was solved, where a reward says so by being exactly 1 or 0; a graded one does not. */
export function successOf(reward: number | null | undefined): boolean | undefined {
  return reward === 1 ? true : reward === 0 ? false : undefined;
}

/** What of a record are plain numbers and flags, as signals under their own names. */
export function scalarSignals(fields: Readonly<Record<string, unknown>>): Record<string, number | boolean> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, number | boolean] =>
        (typeof entry[1] === 'number' || typeof entry[1] === 'boolean') &&
        entry[0].length <= MAX_SIGNAL_NAME &&
        entry[0] !== '' &&
        !entry[0].startsWith('_'),
    ),
  );
}

const MAX_SIGNAL_NAME = 128;
