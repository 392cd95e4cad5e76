import { useState } from 'react';
import { counted } from '../../text/numbers.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { Text } from '../../ui/Text.js';
import { useAsked } from '../../use-asked.js';
import { PrefixQuery, SHOWN_TURNS, type Restart } from './queries.js';

/** Browsers give no clipboard to pages that came over plain HTTP from another machine. */
const CAN_COPY = 'clipboard' in navigator;

interface PrefixProps {
  readonly run: string;
  readonly restart: Restart;
}

/** The actions to replay from the beginning of the task, to copy. */
export function Prefix({ run, restart: { trajectory, prefixTurns } }: PrefixProps) {
  const [isCopied, setCopied] = useState(false);
  const turns = Math.min(prefixTurns, SHOWN_TURNS);
  const { data, error, again } = useAsked({ query: PrefixQuery, variables: { run, trajectory, turns } });
  const actions = data?.trajectory?.turns.edges.map(({ node }) => node.action);
  const copy = async () => {
    await navigator.clipboard.writeText(JSON.stringify(actions, null, 2));
    setCopied(true);
  };
  return (
    <section className="prefix" aria-label="Actions to replay">
      <header className="panel-head">
        <h3>
          Replay {counted(prefixTurns, 'action')} of <Text>{trajectory}</Text>
        </h3>
        {prefixTurns > SHOWN_TURNS && <span className="hint">the first {SHOWN_TURNS} are shown</span>}
        <span className="panel-actions">
          {isCopied && (
            <span className="hint" role="status">
              copied
            </span>
          )}
          <button type="button" disabled={!actions || !CAN_COPY} onClick={() => void copy()}>
            {prefixTurns > SHOWN_TURNS ? `Copy the first ${SHOWN_TURNS} as JSON` : 'Copy as JSON'}
          </button>
        </span>
      </header>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={22} count={Math.min(turns, 8)} />}
      <ol start={0}>
        {actions?.map((action, turn) => (
          <li key={turn}>
            <code>
              <Text>{action}</Text>
            </code>
          </li>
        ))}
      </ol>
    </section>
  );
}
