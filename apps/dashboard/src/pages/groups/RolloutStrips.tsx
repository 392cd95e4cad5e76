import { Fragment, useMemo } from 'react';
import { counted, credit as creditText, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { creditSide, creditStrength } from './credit-strength.js';
import { TrajectoryLink } from './TrajectoryLink.js';
import type { GraphRollout, GraphTurn } from './state-graph.js';

const STEP = 14;
const HEIGHT = 18;
/** Above and below a cell whose state no other rollout has seen. */
const LOWER = 5;

/** A rollout with what came of it; null: not known. */
export interface StripRollout extends GraphRollout {
  readonly outcome: number | null;
}

interface StripsProps {
  readonly run: string;
  readonly rollouts: readonly StripRollout[];
  /** keys of the states that several rollouts have seen: their turns are anchor groups */
  readonly shared: ReadonlySet<string>;
  /** the credit that is drawn strongest */
  readonly full: number;
  /** key of the state that somebody looks at */
  readonly looked: string | null;
  readonly onLook: (key: string | null) => void;
  readonly onChoose: (key: string) => void;
}

/** The rollouts of a group side by side, the best outcome first: a cell per turn, marked in all of them where states are equal. */
export function RolloutStrips({ run, rollouts, shared, full, looked, onLook, onChoose }: StripsProps) {
  const ordered = useMemo(
    // of two without an outcome the difference is NaN: they stay in order
    () => rollouts.toSorted((a, b) => (b.outcome ?? -Infinity) - (a.outcome ?? -Infinity) || 0),
    [rollouts],
  );
  const longest = rollouts.reduce((most, { turns }) => Math.max(most, turns.length), 0);
  return (
    <div className="strips" tabIndex={0} role="region" aria-label="Rollouts side by side">
      {ordered.map(({ id, success, outcome, turns }) => (
        <Fragment key={id}>
          <TrajectoryLink run={run} id={id} />
          <span className="result number">
            {success !== null && <span className={`dot dot-${success ? 'success' : 'failure'}`} />}
            {decimal(outcome, 2)}
          </span>
          <svg
            width={longest * STEP}
            height={HEIGHT}
            role="img"
            aria-label={`${counted(turns.length, 'turn')}, ${turns.filter(({ stateKey }) => shared.has(stateKey)).length} of them in shared states`}
            onMouseLeave={() => onLook(null)}
          >
            {turns.map((turn, at) => (
              <Cell
                key={turn.index}
                turn={turn}
                at={at}
                isShared={shared.has(turn.stateKey)}
                isLooked={turn.stateKey === looked}
                full={full}
                onLook={onLook}
                onChoose={onChoose}
              />
            ))}
          </svg>
        </Fragment>
      ))}
    </div>
  );
}

interface CellProps extends Pick<StripsProps, 'full' | 'onLook' | 'onChoose'> {
  readonly turn: GraphTurn;
  readonly at: number;
  readonly isShared: boolean;
  readonly isLooked: boolean;
}

function Cell({
  turn: { index, stateKey, action, credit },
  at,
  isShared,
  isLooked,
  full,
  onLook,
  onChoose,
}: CellProps) {
  const edge = isShared ? 1 : LOWER;
  return (
    <rect
      className={`cell ${creditSide(credit)}${isLooked ? ' cell-looked' : ''}`}
      x={at * STEP + 1}
      y={edge}
      width={STEP - 2}
      height={HEIGHT - 2 * edge}
      rx="2"
      fillOpacity={credit ? creditStrength(credit, full) : 1}
      onMouseEnter={() => onLook(stateKey)}
      onClick={() => onChoose(stateKey)}
    >
      <title>{`turn ${index}: ${visibleText(action)}\ncredit ${creditText(credit)}`}</title>
    </rect>
  );
}
