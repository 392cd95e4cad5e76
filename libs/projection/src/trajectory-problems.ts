/** Turns of which the first hundred are named. */
export interface NamedTurns {
  readonly count: number;
  readonly turns: readonly number[];
}

/** What was wrong with the events of a trajectory. Nothing is repaired: the first word stands, and this is shown beside it. */
export interface TrajectoryProblems {
  /** before the last turn that is here, or the number that its end spoke of */
  readonly missingTurns?: NamedTurns;
  /** came again; the first one stands */
  readonly repeatedTurns?: NamedTurns;
  /** came when the trajectory was whole, or beyond its last turn; left out */
  readonly turnsAfterEnd?: NamedTurns;
  /** it said it ended, or was recorded whole, once more; left out */
  readonly repeatedEnds?: { readonly count: number; readonly firstPosition: number };
  /** events that named another group or training step than the first one; left out */
  readonly otherPlaces?: {
    readonly count: number;
    readonly firstPosition: number;
    readonly group: string;
    readonly trainingStep: number;
  };
  /** its end spoke of fewer turns than had come; all of them are kept */
  readonly saidTurnCount?: number;
}

const NAMED = 100;

/** The turns with one more. */
export function andTurn(named: NamedTurns | undefined, turn: number): NamedTurns {
  const { count, turns } = named ?? { count: 0, turns: [] };
  return { count: count + 1, turns: count < NAMED ? [...turns, turn] : turns };
}

/**
 * The turns that are not there.
 *
 * @param contiguous turns 0 .. contiguous - 1 are there
 * @param early the others that are there
 * @param expected how many there are to be, as far as is known
 */
export function missingTurns(contiguous: number, early: readonly number[], expected: number): NamedTurns | undefined {
  const count = expected - contiguous - early.length;
  if (count <= 0) return undefined;
  const here = new Set(early);
  const turns: number[] = [];
  for (let turn = contiguous; turns.length < Math.min(count, NAMED); turn++) if (!here.has(turn)) turns.push(turn);
  return { count, turns };
}
