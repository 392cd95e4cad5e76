import type { RunEvent } from './run.events.js';
import type { Issue } from './validators.js';

/** Different signals of one level in one event. Each becomes a column with a place for every row: a name is no value. */
export const MAX_SIGNAL_NAMES = 1_000;

type Named = Readonly<Record<string, unknown>> | undefined;

/** What is wrong with the number of names that an event gives its signals, or null. */
export function signalNamesIssue(event: RunEvent): Issue | null {
  switch (event.type) {
    case 'turn.recorded':
      return tooMany([event.signals], () => '/signals') ?? tooMany([event.tokens], () => '/tokens');
    case 'trajectory.ended':
      return tooMany([event.signals], () => '/signals');
    case 'trajectory.recorded':
      return (
        tooMany([event.signals], () => '/signals') ??
        tooMany(namedIn(event.turns, 'signals'), (i) => `/turns/${i}/signals`) ??
        tooMany(namedIn(event.turns, 'tokens'), (i) => `/turns/${i}/tokens`)
      );
    case 'annotation.recorded':
      return (
        tooMany([event.signals], () => '/signals') ??
        tooMany(namedIn(event.turns ?? [], 'signals'), (i) => `/turns/${i}/signals`)
      );
    case 'run.started':
    case 'trainingStep.recorded':
    case 'checkpoint.recorded':
    case 'run.rewound':
    case 'run.ended':
    case 'analysis.requested':
    case 'analysis.completed':
    case 'alert.opened':
    case 'alert.closed':
    case 'run.erased':
      return null;
  }
}

function namedIn(turns: readonly Readonly<Record<string, unknown>>[], field: 'signals' | 'tokens'): Named[] {
  return turns.map((turn) => turn[field] as Named);
}

function tooMany(rows: readonly Named[], pointerOf: (row: number) => string): Issue | null {
  const names = rows.length > 1 ? new Set<string>() : null;
  for (let row = 0; row < rows.length; row++) {
    let count = 0;
    for (const name in rows[row]) {
      count++;
      names?.add(name);
    }
    const found = Math.max(count, names?.size ?? 0);
    if (found <= MAX_SIGNAL_NAMES) continue;
    return { pointer: pointerOf(row), expected: `up to ${MAX_SIGNAL_NAMES} different names`, found: `${found}` };
  }
  return null;
}
