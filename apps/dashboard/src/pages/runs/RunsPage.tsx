import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useRows } from '../../rows/use-rows.js';
import { said } from '../../said.js';
import { counted } from '../../text/numbers.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable } from '../../ui/DataTable.js';
import { Empty, Failure } from '../../ui/Notice.js';
import { usePolling } from '../../use-live.js';
import { RunsQuery, type RunRow } from './queries.js';
import { runColumns } from './run-columns.js';
import { RunFilters } from './RunFilters.js';
import { runListOf } from './run-list.js';

const POLL_MS = 4000;
const NO_FILTER = { text: undefined, project: undefined, state: undefined, alerts: undefined };
const IN_PLACE = { replace: true, resetScroll: false } as const;
const keyOf = ({ id }: RunRow) => id;
const isFull = ({ metric }: RunRow) => metric !== undefined;

export function RunsPage() {
  const search = useSearch({ from: '/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const wanted = runListOf(search);
  const list = useRows({
    of: `runs ${JSON.stringify(wanted)}`,
    query: RunsQuery,
    variablesOf: (page) => ({ ...wanted, ...page }),
    connectionOf: ({ runs }) => runs,
    keyOf,
    isFull,
    startAt: search.row,
    keepsLast: true,
  });
  usePolling(list.again, POLL_MS);

  const change = (next: { readonly [Name in keyof typeof search]?: string | number | undefined }) => {
    const entries = Object.entries({ ...search, ...next }).filter(([, value]) => value);
    void navigate({ search: Object.fromEntries(entries), ...IN_PLACE });
  };
  const picked = useMemo(() => search.pick?.split(',') ?? [], [search.pick]);
  const columns = useMemo(
    () =>
      runColumns({
        picked,
        onPick: (id) => {
          const pick = picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id];
          void navigate({ search: (old) => said({ ...old, pick: pick.join(',') || undefined }), ...IN_PLACE });
        },
      }),
    [picked, navigate],
  );
  const isFiltered = Object.keys(NO_FILTER).some((name) => name in search);
  const isEmpty = list.of !== null && list.rows.length === 0 && !list.hasMore;

  return (
    <>
      <Head title="Runs">
        <div className="filters">
          <RunFilters search={search} onChange={(next) => change({ ...next, row: undefined })} />
          <span className="hint" role="status">
            {list.count !== undefined && counted(list.count, 'run')}
          </span>
          {picked.length === 2 && (
            <Link className="button" to="/compare" search={{ a: picked[0], b: picked[1] }}>
              Compare the two
            </Link>
          )}
          {picked.length === 1 && <span className="hint">choose one more to compare</span>}
        </div>
      </Head>
      {list.error && <Failure message={list.error.message} onRetry={list.again} />}
      {(list.of !== null || !list.error) && (
        <section className="panel runs">
          {isEmpty && !isFiltered && <NoRuns />}
          {isEmpty && isFiltered && (
            <Empty title="No run is like that">
              <button type="button" onClick={() => change({ ...NO_FILTER, row: undefined })}>
                Show all runs
              </button>
            </Empty>
          )}
          {!isEmpty && (
            <DataTable<RunRow>
              label="Runs"
              rows={list.rows}
              columns={columns}
              isMarked={({ id }) => picked.includes(id)}
              keyOf={keyOf}
              sort={search.sort}
              onSort={(sort) => change({ sort, row: undefined })}
              endless={list}
              row={search.row}
              onRow={(row) => change({ row })}
            />
          )}
        </section>
      )}
    </>
  );
}

function NoRuns() {
  return (
    <Empty title="No run has been recorded yet">
      <p>
        Log from a trainer with the SDK, or bring a file in: <code>recredit import tau-bench FILE --run NAME</code>
      </p>
    </Empty>
  );
}
