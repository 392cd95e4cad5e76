import { Link, useParams, useSearch } from '@tanstack/react-router';
import { graphql, type ResultOf } from '../../graphql.js';
import { ago, count } from '../../text/numbers.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { useOnChange } from '../../use-live.js';
import { without } from '../../without.js';
import { useRunHead } from '../run/use-run-head.js';
import { useAsked } from '../../use-asked.js';
import { Chain } from './Chain.js';
import { OneEvent } from './OneEvent.js';

const EventFields = graphql(`
  fragment EventRow on LoggedEvent @_unmask {
    position
    type
    receivedAt
    trainingStep
    trajectory
    turn
  }
`);

const EventsQuery = graphql(
  `
    query Events($run: ID!, $from: Position!) {
      events(run: $run, from: $from, first: 50) {
        edges {
          node {
            ...EventRow
          }
        }
      }
    }
  `,
  [EventFields],
);

type LoggedEvent = ResultOf<typeof EventFields>;

const PAGE = 50;
const FRESH_MS = 1000;
const FROM = '/runs/$run/events';

/** What stands in the event log of a run, newest first; without a place in the address it follows the run. */
export function EventsPage() {
  const { run } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const { isAsked, run: found, position: head, error: headError, isLive: isHeard, again: askHead } = useRunHead(run);
  const isLive = search.from === undefined;
  const from = Math.max(0, search.from ?? head - PAGE);
  const { data, error, again, isStale } = useAsked(
    { query: EventsQuery, variables: { run, from }, pause: !found, requestPolicy: 'cache-and-network' },
    { keepsLast: true },
  );
  useOnChange(head, again, FRESH_MS);

  if (headError) return <Failure message={headError.message} onRetry={askHead} />;
  if (!isAsked) return <Skeleton height={41} count={10} />;
  if (!found)
    return <Empty title="You see no such run">It may belong to a project that your key does not reach.</Empty>;
  const rows = data?.events?.edges.map(({ node }) => node).toReversed() ?? [];
  // while others are asked for, these stay
  const first = rows.at(-1)?.position ?? from;
  const end = first + rows.length;
  return (
    <>
      <Head
        title="Event log"
        crumbs={[
          <Link to="/runs">Runs</Link>,
          <Link to="/runs/$run" params={{ run }}>
            <Text>{found.name}</Text>
          </Link>,
        ]}
      >
        <span className={`state state-${isLive && isHeard ? 'live' : 'calm'}`}>
          {!isHeard ? 'not live' : isLive ? 'follows the run' : 'stands still'}
        </span>
      </Head>
      <Chain run={run} position={head} />
      <div className={search.event === undefined ? undefined : 'columns columns-even event-view'}>
        <Panel
          title={rows.length > 0 ? `Positions ${count(first)} to ${count(end - 1)}` : 'Positions'}
          hint="newest first"
          actions={
            <nav className="filters" aria-label="Places in the log">
              {from > 0 && (
                <Link
                  className="button"
                  to={FROM}
                  params={{ run }}
                  search={(old) => ({ ...old, from: Math.max(0, from - PAGE) })}
                >
                  Older
                </Link>
              )}
              {!isLive && end < head && (
                <Link className="button" to={FROM} params={{ run }} search={(old) => ({ ...old, from: from + PAGE })}>
                  Newer
                </Link>
              )}
              {!isLive && (
                <Link className="button" to={FROM} params={{ run }} search={(old) => without(old, 'from')}>
                  Newest
                </Link>
              )}
            </nav>
          }
        >
          {error && <Failure message={error.message} onRetry={again} />}
          {!data && !error && <Skeleton height={36} count={10} />}
          {data && rows.length === 0 && <Empty title="No event stands here" />}
          {rows.length > 0 && (
            <div aria-busy={isStale}>
              <DataTable<LoggedEvent>
                label="Events"
                rows={rows}
                columns={columnsOf(run, from)}
                keyOf={({ position }) => String(position)}
                isMarked={({ position }) => position === search.event}
              />
            </div>
          )}
        </Panel>
        {search.event !== undefined && <OneEvent run={run} position={search.event} />}
      </div>
    </>
  );
}

function columnsOf(run: string, from: number): readonly Column<LoggedEvent>[] {
  return [
    {
      id: 'position',
      title: 'Position',
      cell: ({ position }) => (
        <Link
          className="number"
          to={FROM}
          params={{ run }}
          // the page stands still while somebody reads
          search={{ from, event: position }}
          resetScroll={false}
        >
          {count(position)}
        </Link>
      ),
    },
    { id: 'type', title: 'Type', cell: ({ type }) => <span className="mono">{type}</span> },
    { id: 'of', title: 'Speaks of', cell: (event) => <Subject run={run} event={event} /> },
    { id: 'received', title: 'Stored', align: 'end', cell: ({ receivedAt }) => ago(receivedAt, Date.now()) },
  ];
}

function Subject({
  run,
  event: { trajectory, turn, trainingStep },
}: {
  readonly run: string;
  readonly event: LoggedEvent;
}) {
  if (trajectory !== null) {
    return (
      <Link
        to="/runs/$run/trajectories/$trajectory"
        params={{ run, trajectory }}
        search={turn === null ? {} : { turn }}
      >
        <Text>{trajectory}</Text>
        {turn !== null && `, turn ${turn}`}
      </Link>
    );
  }
  if (trainingStep === null) return 'the run';
  return (
    <Link to="/runs/$run/steps/$step" params={{ run, step: String(trainingStep) }}>
      step {trainingStep}
    </Link>
  );
}
