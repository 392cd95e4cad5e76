import { useState } from 'react';
import { Link, useSearch } from '@tanstack/react-router';
import { graphql, readFragment } from '../../graphql.js';
import { mayAdminister, useSession } from '../../session.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { CreateKey } from './CreateKey.js';
import { keyColumns, KeyFields, type Key } from './key-columns.js';
import { useAsked } from '../../use-asked.js';

const KeysQuery = graphql(
  `
    query Keys($after: String) {
      apiKeys(first: 50, after: $after) {
        edges {
          node {
            ...KeyRow
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
      projects(first: 500) {
        edges {
          node {
            id
            name
          }
        }
      }
    }
  `,
  [KeyFields],
);

/** Who may do what: keys are made here, shown once, and revoked. */
export function KeysPage() {
  const { session } = useSession();
  const { after } = useSearch({ from: '/keys' });
  const [isMaking, setMaking] = useState(false);
  const mayLook = mayAdminister(session);
  const { data, error, again } = useAsked(
    { query: KeysQuery, variables: { after: after ?? null }, requestPolicy: 'cache-and-network', pause: !mayLook },
    { keepsLast: true },
  );
  const projects = data?.projects.edges.map(({ node }) => node) ?? [];
  const keys = data?.apiKeys.edges.map(({ node }) => readFragment(KeyFields, node)) ?? [];
  if (!mayLook) {
    return (
      <>
        <Head title="Keys" />
        <Empty title="Only admins see keys">
          <p>Your key has the roles {session.roles.join(', ')}.</p>
        </Empty>
      </>
    );
  }
  return (
    <>
      <Head title="Keys">
        <button type="button" aria-expanded={isMaking} onClick={() => setMaking(!isMaking)}>
          {isMaking ? 'Close' : 'Make a key'}
        </button>
      </Head>
      {isMaking && <CreateKey projects={projects} onMade={again} />}
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={41} count={4} />}
      {data && (
        <section className="panel">
          <DataTable<Key>
            label="Keys"
            rows={keys}
            columns={keyColumns({
              projects: new Map(projects.map(({ id, name }) => [id, name])),
              own: session.keyId,
              onRevoked: again,
            })}
            keyOf={({ id }) => id}
          />
          {(after || data.apiKeys.pageInfo.hasNextPage) && (
            <div className="pager">
              {after && (
                <Link className="button" to="/keys" search={{}}>
                  Newest
                </Link>
              )}
              {data.apiKeys.pageInfo.hasNextPage && (
                <Link className="button" to="/keys" search={{ after: data.apiKeys.pageInfo.endCursor ?? '' }}>
                  Older
                </Link>
              )}
            </div>
          )}
        </section>
      )}
    </>
  );
}
