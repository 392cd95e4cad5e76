/** What the files say that they are. A change of layout is a new number, and `openSegment` reads both. */
export const NUMERIC_FORMAT = 'recredit.segment.numeric/1';
export const TEXT_FORMAT = 'recredit.segment.text/1';

/** Columns that are no signals, by level. */
export const OWN_COLUMNS = {
  trajectory: new Set([
    'id',
    'group',
    'groupKey',
    'trainingStep',
    'endPosition',
    'parent',
    'parentRow',
    'parentTurn',
    'turns',
  ]),
  turn: new Set(['state', 'action', 'tokens']),
  token: new Set(['token']),
} as const;
