import type { RunEvent } from './run.events.js';
import type { Issue } from './validators.js';

/** Different signals of one level. Each becomes a column with a place for every row, so their number must be bounded. */
export const MAX_SIGNAL_NAMES = 1_000;

type Named = Readonly<Record<string, unknown>> | undefined;

interface Row {
  readonly signals?: Named;
  readonly tokens?: Named;
}

/** Counts the different names that the events of a batch use, by level. */
export class SignalNames {
  readonly #trajectory = new Set<string>();
  readonly #turn = new Set<string>();
  readonly #token = new Set<string>();

  /** Adds an event's names; says so when they are too many. */
  issueOf(event: RunEvent): Issue | null {
    switch (event.type) {
      case 'turn.recorded':
        return this.#turnIssue(event, '');
      case 'trajectory.ended':
        return add(this.#trajectory, event.signals, '/signals');
      case 'trajectory.recorded':
        return this.#turnsIssue(event.turns) ?? add(this.#trajectory, event.signals, '/signals');
      case 'annotation.recorded':
        return (
          this.#turnsIssue((event.turns ?? []).map(({ signals }) => ({ signals }))) ??
          add(this.#trajectory, event.signals, '/signals')
        );
      case 'run.started':
      case 'trainingStep.recorded':
      case 'checkpoint.recorded':
      case 'run.rewound':
      case 'run.ended':
      case 'analysis.requested':
      case 'analysis.completed':
      case 'run.erased':
        return null;
    }
  }

  #turnsIssue(turns: readonly Row[]): Issue | null {
    for (let i = 0; i < turns.length; i++) {
      const issue = this.#turnIssue(turns[i], `/turns/${i}`);
      if (issue) return issue;
    }
    return null;
  }

  #turnIssue(turn: Row, pointer: string): Issue | null {
    if (!turn.signals && !turn.tokens) return null;
    return add(this.#turn, turn.signals, `${pointer}/signals`) ?? add(this.#token, turn.tokens, `${pointer}/tokens`);
  }
}

function add(names: Set<string>, signals: Named, pointer: string): Issue | null {
  for (const name in signals) names.add(name);
  if (names.size <= MAX_SIGNAL_NAMES) return null;
  return {
    pointer,
    expected: `up to ${MAX_SIGNAL_NAMES} different names in a batch: what differs from row to row is a value, not a name`,
    found: `${names.size}`,
  };
}
