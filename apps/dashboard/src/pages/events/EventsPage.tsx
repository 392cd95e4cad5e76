import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { graphql, type ResultOf } from '../../graphql.js';
import { useRows } from '../../rows/use-rows.js';
import { said } from '../../said.js';
import { ago, count } from '../../text/numbers.js';
import { Head } from '../../ui/Crumbs.js';
import { NoSuchRun } from '../NoSuchRun.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { useOnChange } from '../../use-live.js';
import { without } from '../../without.js';
import { useRunHead } from '../run/use-run-head.js';
import { Chain } from './Chain.js';
import { OneEvent } from './OneEvent.js';
import { PositionField } from './PositionField.js';

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
    query Events($run: ID!, $from: Position!, $first: Int!) {
      events(run: $run, from: $from, first: $first) {
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

const FRESH_MS = 1000;
const FROM = '/runs/$run/events';
const keyOf = ({ position }: LoggedEvent) => String(position);

/** What stands in the event log of a run, newest first; without a place in the address it follows the run. */
export function EventsPage() {
  const { run } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const { isAsked, run: found, position: head, error: headError, isLive: isHeard, again: askHead } = useRunHead(run);
  if (headError) return <Failure message={headError.message} onRetry={askHead} />;
  if (!isAsked) return <Skeleton height={41} count={10} />;
  if (!found) return <NoSuchRun />;
  const isFollowing = search.before === undefined && search.row === undefined;
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
        <span className={`state state-${isFollowing && isHeard ? 'live' : 'calm'}`}>
          {!isHeard ? 'not live' : isFollowing ? 'follows the run' : 'stands still'}
        </span>
      </Head>
      <Chain run={run} position={head} />
      <div className={search.event === undefined ? undefined : 'columns columns-even event-view'}>
        <Events run={run} head={head} />
        {search.event !== undefined && <OneEvent run={run} position={search.event} />}
      </div>
    </>
  );
}

/** From the newest event, or from the one before a place, down to the first. */
function Events({ run, head }: { readonly run: string; readonly head: number }) {
  const { before, event, row } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const list = useRows({
    of: `events ${run} ${before ?? 'newest'}`,
    query: EventsQuery,
    // the cursor of an event is its position: older ones end there
    variablesOf: ({ first, after }) => {
      const end = after === null ? Math.min(before ?? Infinity, newest.current) : Number(after);
      return { run, from: Math.max(0, end - first), first: Math.max(1, Math.min(first, end)) };
    },
    connectionOf: ({ events }) => {
      const edges = events?.edges.map(({ node }) => ({ cursor: String(node.position), node })).toReversed() ?? [];
      return { edges, pageInfo: { hasNextPage: Number(edges.at(-1)?.cursor ?? 0) > 0 } };
    },
    keyOf,
    startAt: row,
    keepsLast: true,
  });
  const newest = useRef(head);
  newest.current = head;
  useOnChange(head, list.again, FRESH_MS);
  const first = list.rows.at(0)?.position;
  const columns = useMemo(() => columnsOf(run, first), [run, first]);
  const go = (next: { readonly before?: number; readonly event?: number; readonly row?: number | undefined }) =>
    void navigate({ search: (old) => said({ ...old, ...next }), replace: true, resetScroll: false });
  const isEmpty = list.of !== null && list.rows.length === 0;
  return (
    <Panel
      title="Events"
      hint="newest first"
      actions={
        <nav className="filters" aria-label="Places in the log">
          <PositionField
            head={head}
            onGo={(position) => go({ before: position + 1, event: position, row: undefined })}
          />
          {(before !== undefined || row !== undefined) && (
            <Link
              className="button"
              to={FROM}
              params={{ run }}
              search={(old) => without(without(old, 'before'), 'row')}
              resetScroll={false}
            >
              Newest
            </Link>
          )}
        </nav>
      }
    >
      {list.error && <Failure message={list.error.message} onRetry={list.again} />}
      {isEmpty && <Empty title="No event stands here" />}
      {!isEmpty && (list.of !== null || !list.error) && (
        <DataTable<LoggedEvent>
          label="Events"
          rows={list.rows}
          columns={columns}
          keyOf={keyOf}
          isMarked={({ position }) => position === event}
          endless={{ ...list, count: first === undefined ? undefined : first + 1 }}
          row={row}
          onRow={(row) => go({ row: row || undefined })}
        />
      )}
    </Panel>
  );
}

function columnsOf(run: string, first: number | undefined): readonly Column<LoggedEvent>[] {
  return [
    {
      id: 'position',
      title: 'Position',
      width: 96,
      cell: ({ position }) => (
        <Link
          className="number"
          to={FROM}
          params={{ run }}
          // the page stands still while somebody reads
          search={(old) => ({ ...old, ...(first !== undefined && { before: first + 1 }), event: position })}
          resetScroll={false}
        >
          {count(position)}
        </Link>
      ),
    },
    { id: 'type', title: 'Type', width: 184, cell: ({ type }) => <span className="mono">{type}</span> },
    { id: 'of', title: 'Speaks of', cell: (event) => <Subject run={run} event={event} /> },
    {
      id: 'received',
      title: 'Stored',
      width: 112,
      align: 'end',
      cell: ({ receivedAt }) => ago(receivedAt, Date.now()),
    },
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
