import { useMemo, useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { graphql } from '../../graphql.js';
import { useRows } from '../../rows/use-rows.js';
import { mayAdminister, useSession } from '../../session.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable } from '../../ui/DataTable.js';
import { Empty, Failure } from '../../ui/Notice.js';
import { CreateKey } from './CreateKey.js';
import { keyColumns, KeyFields, type Key } from './key-columns.js';
import { useAsked } from '../../use-asked.js';

const KeysQuery = graphql(
  `
    query Keys($first: Int!, $after: String) {
      apiKeys(first: $first, after: $after) {
        edges {
          cursor
          node {
            ...KeyRow
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  `,
  [KeyFields],
);

const ProjectsQuery = graphql(`
  query KeyProjects {
    projects(first: 500) {
      edges {
        node {
          id
          name
        }
      }
    }
  }
`);

const NO_PROJECTS: readonly { readonly id: string; readonly name: string }[] = [];
const keyOf = ({ id }: Key) => id;

/** Who may do what: keys are made here, shown once, and revoked. */
export function KeysPage() {
  const { session } = useSession();
  if (mayAdminister(session)) return <Keys own={session.keyId} />;
  return (
    <>
      <Head title="Keys" />
      <Empty title="Only admins see keys">
        <p>Your key has the roles {session.roles.join(', ')}.</p>
      </Empty>
    </>
  );
}

function Keys({ own }: { readonly own: string }) {
  const { row } = useSearch({ from: '/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const [isMaking, setMaking] = useState(false);
  const { data } = useAsked({ query: ProjectsQuery, variables: {}, requestPolicy: 'cache-and-network' });
  const projects = useMemo(() => data?.projects.edges.map(({ node }) => node) ?? NO_PROJECTS, [data]);
  const list = useRows({
    of: 'keys',
    query: KeysQuery,
    variablesOf: ({ first, after }) => ({ first, after }),
    connectionOf: ({ apiKeys }) => apiKeys,
    keyOf,
    startAt: row,
  });
  const { again } = list;
  const columns = useMemo(
    () => keyColumns({ projects: new Map(projects.map(({ id, name }) => [id, name])), own, onRevoked: again }),
    [projects, own, again],
  );
  return (
    <>
      <Head title="Keys">
        <button type="button" aria-expanded={isMaking} onClick={() => setMaking(!isMaking)}>
          {isMaking ? 'Close' : 'Make a key'}
        </button>
      </Head>
      {isMaking && <CreateKey projects={projects} onMade={again} />}
      {list.error && <Failure message={list.error.message} onRetry={again} />}
      {(list.of !== null || !list.error) && (
        <section className="panel">
          <DataTable<Key>
            label="Keys"
            rows={list.rows}
            columns={columns}
            keyOf={keyOf}
            endless={list}
            row={row}
            onRow={(row) => void navigate({ search: row ? { row } : {}, replace: true, resetScroll: false })}
          />
        </section>
      )}
    </>
  );
}
