import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { graphql } from '../../graphql.js';
import { useRows } from '../../rows/use-rows.js';
import { said } from '../../said.js';
import { Head } from '../../ui/Crumbs.js';
import { NoSuchRun } from '../NoSuchRun.js';
import { DataTable } from '../../ui/DataTable.js';
import { Empty, Failure } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { counted } from '../../text/numbers.js';
import { usePolling } from '../../use-live.js';
import { groupColumns, GroupRowFields, type GroupRow } from './group-columns.js';
import { Rollouts } from './Rollouts.js';
import { SharedStates } from './SharedStates.js';

const GroupsQuery = graphql(
  `
    query Groups($run: ID!, $step: Int!, $first: Int!, $after: String) {
      run(id: $run) {
        id
        name
        state
        progress {
          lastTrainingStep
        }
        groups(trainingStep: $step, first: $first, after: $after) {
          edges {
            cursor
            node {
              ...GroupRow
            }
          }
          pageInfo {
            hasNextPage
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
const keyOf = ({ name }: GroupRow) => name;

/** The groups of one training step, and the rollouts of the one that is chosen. */
export function GroupsPage() {
  const { run: id, step } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const trainingStep = Number(step);
  const list = useRows({
    of: `groups ${id} ${step}`,
    query: GroupsQuery,
    variablesOf: ({ first, after }) => ({
      run: id,
      step: Number.isSafeInteger(trainingStep) ? trainingStep : -1,
      first,
      after,
    }),
    connectionOf: ({ run }) => run?.groups,
    keyOf,
    startAt: search.row,
    isWhole: search.sort !== undefined,
  });
  const { rows: groups, answer, error, again } = list;
  const run = answer?.run;
  const [marked, setMarked] = useState<ReadonlySet<string>>(NONE);
  usePolling(() => run?.state === 'RUNNING' && again(), POLL_MS);
  const columns = useMemo(() => groupColumns(id, step), [id, step]);
  const last = run?.progress.lastTrainingStep ?? -1;
  const before = Math.min(trainingStep - 1, last);
  const change = (next: { readonly sort?: string | undefined; readonly row?: number | undefined }) =>
    void navigate({ search: (old) => said({ ...old, ...next }), replace: true, resetScroll: false });
  const isEmpty = list.of !== null && groups.length === 0;
  if (list.of !== null && !run) return <NoSuchRun />;

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
          {before >= 0 && (
            <Link className="button" to={FROM} params={{ run: id, step: String(before) }}>
              ← {before}
            </Link>
          )}
          {trainingStep < last && (
            <Link className="button" to={FROM} params={{ run: id, step: String(trainingStep + 1) }}>
              {trainingStep + 1} →
            </Link>
          )}
        </nav>
      </Head>
      {error && <Failure message={error.message} onRetry={again} />}
      {isEmpty && (
        <Empty title="No group in this training step">
          <Link to="/runs/$run" params={{ run: id }}>
            See the steps that there are
          </Link>
        </Empty>
      )}
      {!isEmpty && (list.of !== null || !error) && (
        <div className="columns groups">
          <Panel
            title="Groups"
            hint={list.of !== null && `${counted(groups.length, 'group')}${list.hasMore ? ' and more' : ''}`}
          >
            <DataTable<GroupRow>
              label="Groups"
              rows={groups}
              columns={columns}
              keyOf={keyOf}
              sort={search.sort}
              onSort={(sort) => change({ sort, row: undefined })}
              isMarked={({ name }) => name === search.group}
              endless={list}
              row={search.row}
              onRow={(row) => change({ row: row || undefined })}
            />
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
