import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { graphql, readFragment } from '../../graphql.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { counted } from '../../text/numbers.js';
import { usePolling } from '../../use-live.js';
import { groupColumns, GroupRowFields, type GroupRow } from './group-columns.js';
import { Rollouts } from './Rollouts.js';
import { SharedStates } from './SharedStates.js';
import { without } from '../../without.js';
import { useAsked } from '../../use-asked.js';

const GroupsQuery = graphql(
  `
    query Groups($run: ID!, $step: Int!, $after: String) {
      run(id: $run) {
        id
        name
        state
        groups(trainingStep: $step, first: 50, after: $after) {
          edges {
            node {
              ...GroupRow
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [GroupRowFields],
);

const POLL_MS = 5000;
const NONE: ReadonlySet<string> = new Set();
const FROM = '/runs/$run/steps/$step';

/** The groups of one training step, and the rollouts of the one that is chosen. */
export function GroupsPage() {
  const { run: id, step } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const trainingStep = Number(step);
  const { data, error, again } = useAsked({
    query: GroupsQuery,
    variables: { run: id, step: Number.isSafeInteger(trainingStep) ? trainingStep : -1, after: search.after ?? null },
    requestPolicy: 'cache-and-network',
  });
  const run = data?.run;
  const [marked, setMarked] = useState<ReadonlySet<string>>(NONE);
  usePolling(() => run?.state === 'RUNNING' && again(), POLL_MS);
  const groups = run?.groups.edges.map(({ node }) => readFragment(GroupRowFields, node)) ?? [];

  return (
    <>
      <Head
        title={`Training step ${step}`}
        crumbs={[
          <Link to="/runs">Runs</Link>,
          <Link to="/runs/$run" params={{ run: id }}>
            <Text>{run?.name ?? id}</Text>
          </Link>,
        ]}
      >
        <nav className="filters" aria-label="Neighbouring training steps">
          {trainingStep > 0 && (
            <Link className="button" to={FROM} params={{ run: id, step: String(trainingStep - 1) }}>
              ← {trainingStep - 1}
            </Link>
          )}
          <Link className="button" to={FROM} params={{ run: id, step: String(trainingStep + 1) }}>
            {trainingStep + 1} →
          </Link>
        </nav>
      </Head>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={41} count={8} />}
      {data && groups.length === 0 && (
        <Empty title="No group in this training step">
          <Link to="/runs/$run" params={{ run: id }}>
            See the steps that there are
          </Link>
        </Empty>
      )}
      {groups.length > 0 && (
        <div className="columns">
          <Panel
            title="Groups"
            hint={`${counted(groups.length, 'group')}${run?.groups.pageInfo.hasNextPage ? ' and more' : ''}`}
          >
            <DataTable<GroupRow>
              label="Groups"
              rows={groups}
              columns={groupColumns(id, step)}
              keyOf={({ name }) => name}
              sort={search.sort}
              onSort={(sort) =>
                void navigate({
                  search: (old) => (sort ? { ...old, sort } : without(old, 'sort')),
                  replace: true,
                  resetScroll: false,
                })
              }
              isMarked={({ name }) => name === search.group}
            />
            {(search.after || run?.groups.pageInfo.hasNextPage) && (
              <div className="pager">
                {search.after && (
                  <Link className="button" to={FROM} params={{ run: id, step }} search={(old) => without(old, 'after')}>
                    First
                  </Link>
                )}
                {run?.groups.pageInfo.hasNextPage && (
                  <Link
                    className="button"
                    to={FROM}
                    params={{ run: id, step }}
                    search={{ after: run.groups.pageInfo.endCursor ?? '' }}
                  >
                    Next
                  </Link>
                )}
              </div>
            )}
          </Panel>
          {search.group === undefined ? (
            <Empty title="No group chosen">
              <p>Choose one to see its rollouts.</p>
            </Empty>
          ) : (
            <Rollouts run={id} trainingStep={trainingStep} group={search.group} marked={marked} />
          )}
        </div>
      )}
      {groups.length > 0 && search.group !== undefined && (
        <SharedStates key={search.group} run={id} trainingStep={trainingStep} group={search.group} onLook={setMarked} />
      )}
    </>
  );
}
