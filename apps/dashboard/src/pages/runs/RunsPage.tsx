import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { graphql, readFragment } from '../../graphql.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { usePolling } from '../../use-live.js';
import { runColumns, RunRowFields, type RunRow } from './run-columns.js';
import { without } from '../../without.js';
import { useAsked } from '../../use-asked.js';

const RunsQuery = graphql(
  `
    query Runs($project: String, $after: String) {
      runs(project: $project, first: 50, after: $after) {
        edges {
          node {
            ...RunRow
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
      projects(first: 100) {
        edges {
          node {
            id
            name
          }
        }
      }
    }
  `,
  [RunRowFields],
);

const POLL_MS = 4000;
const STATES = ['RUNNING', 'COMPLETED', 'STOPPED', 'FAILED', 'ERASED'] as const;

export function RunsPage() {
  const search = useSearch({ from: '/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const variables = { project: search.project ?? null, after: search.after ?? null };
  const { data, error, again } = useAsked(
    { query: RunsQuery, variables, requestPolicy: 'cache-and-network' },
    { keepsLast: true },
  );
  usePolling(() => again(), POLL_MS);

  const all = data?.runs.edges.map(({ node }) => readFragment(RunRowFields, node)) ?? [];
  const rows = all.filter(
    ({ name, state }) =>
      name.toLowerCase().includes((search.name ?? '').toLowerCase()) && (!search.state || state === search.state),
  );
  const picked = search.pick?.split(',') ?? [];
  const pick = (id: string) =>
    change({ pick: (picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id]).join(',') });
  const projects = data?.projects.edges.map(({ node }) => node) ?? [];
  const change = (next: { readonly [Name in keyof typeof search]?: string | undefined }) => {
    const said = Object.entries({ ...search, ...next }).filter(([, value]) => value);
    void navigate({ search: Object.fromEntries(said), replace: true, resetScroll: false });
  };

  return (
    <>
      <Head title="Runs">
        <div className="filters">
          <label>
            <span className="visually-hidden">Filter by name</span>
            <input
              type="search"
              placeholder="Filter this page by name"
              value={search.name ?? ''}
              onChange={({ target }) => change({ name: target.value })}
            />
          </label>
          <label>
            State
            <select value={search.state ?? ''} onChange={({ target }) => change({ state: target.value })}>
              <option value="">any</option>
              {STATES.map((state) => (
                <option key={state} value={state}>
                  {state.toLowerCase()}
                </option>
              ))}
            </select>
          </label>
          {projects.length > 1 && (
            <label>
              Project
              <select
                value={search.project ?? ''}
                onChange={({ target }) => change({ project: target.value, after: undefined })}
              >
                <option value="">all</option>
                {projects.map(({ id, name }) => (
                  <option key={id}>{name}</option>
                ))}
              </select>
            </label>
          )}
          {picked.length === 2 && (
            <Link className="button" to="/compare" search={{ a: picked[0], b: picked[1] }}>
              Compare the two
            </Link>
          )}
          {picked.length === 1 && <span className="hint">choose one more to compare</span>}
        </div>
      </Head>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={41} count={6} />}
      {data && <section className="panel">{table()}</section>}
    </>
  );

  function table() {
    if (all.length === 0) return <NoRuns />;
    if (rows.length === 0) return <Empty title="No run on this page is like that" />;
    return (
      <>
        <DataTable<RunRow>
          label="Runs"
          rows={rows}
          columns={runColumns({ picked, onPick: pick })}
          isMarked={({ id }) => picked.includes(id)}
          keyOf={({ id }) => id}
          sort={search.sort}
          onSort={(sort) => change({ sort })}
        />
        {(search.after || data?.runs.pageInfo.hasNextPage) && (
          <div className="pager">
            {search.after && (
              <Link className="button" to="/runs" search={(old) => without(old, 'after')}>
                Newest
              </Link>
            )}
            {data?.runs.pageInfo.hasNextPage && (
              <Link
                className="button"
                to="/runs"
                search={(old) => ({ ...old, after: data.runs.pageInfo.endCursor ?? '' })}
              >
                Older
              </Link>
            )}
          </div>
        )}
      </>
    );
  }
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
