import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { graphql } from '../../graphql.js';
import { count } from '../../text/numbers.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { without } from '../../without.js';
import { useAsked } from '../../use-asked.js';

const OneEventQuery = graphql(`
  query OneEvent($run: ID!, $position: Position!) {
    events(run: $run, from: $position, first: 1) {
      edges {
        node {
          position
          receivedAt
          event
        }
      }
    }
  }
`);

/** Longer ones are cut until somebody asks for them. */
const SHOWN_CHARACTERS = 20_000;

/** All of one event. */
export function OneEvent({ run, position }: { readonly run: string; readonly position: number }) {
  const [isWhole, setWhole] = useState(false);
  const { data, error, again } = useAsked({ query: OneEventQuery, variables: { run, position } });
  const found = data?.events?.edges.at(0)?.node;
  const text = found?.position === position ? JSON.stringify(found.event, null, 2) : null;
  const isLong = text !== null && text.length > SHOWN_CHARACTERS;
  return (
    <Panel
      title={`Event ${count(position)}`}
      hint={found && `stored ${found.receivedAt}`}
      actions={
        <Link
          className="button"
          to="/runs/$run/events"
          params={{ run }}
          search={(old) => without(old, 'event')}
          resetScroll={false}
        >
          Close
        </Link>
      }
    >
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={240} />}
      {data && text === null && <Empty title="No event stands at this position" />}
      {text !== null && (
        <pre className="json" tabIndex={0}>
          <Text>{isLong && !isWhole ? text.slice(0, SHOWN_CHARACTERS) : text}</Text>
        </pre>
      )}
      {isLong && (
        <button type="button" className="chip" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'show less' : `show all ${count(text.length)} characters`}
        </button>
      )}
    </Panel>
  );
}
