import { graphql, type ResultOf } from '../../graphql.js';
import { ago, count } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';
import { Text } from '../../ui/Text.js';
import { RevokeKey } from './RevokeKey.js';

export const KeyFields = graphql(`
  fragment KeyRow on ApiKey @_unmask {
    id
    name
    projectId
    roles
    createdAt
    lastUsedAt
    revokedAt
    requestsPerSecond
    eventsPerSecond
  }
`);

export type Key = ResultOf<typeof KeyFields>;

interface KeyContext {
  /** names by id */
  readonly projects: ReadonlyMap<string, string>;
  /** id of the key that one is signed in with */
  readonly own: string;
  readonly onRevoked: () => void;
}

/** At 1280 pixels all columns are on screen. */
export function keyColumns({ projects, own, onRevoked }: KeyContext): readonly Column<Key>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <>
          <Text>{name}</Text>
          {id === own && <small> this one</small>}
        </>
      ),
    },
    { id: 'id', title: 'Key', width: 184, cell: ({ id }) => <span className="mono">rk_{id}_…</span> },
    {
      id: 'project',
      title: 'Project',
      width: 118,
      cell: ({ projectId }) =>
        projectId === null ? 'every project' : <Text>{projects.get(projectId) ?? projectId}</Text>,
    },
    {
      id: 'roles',
      title: 'Roles',
      width: 114,
      cell: ({ roles }) => roles.map((role) => role.toLowerCase()).join(', '),
    },
    {
      id: 'limits',
      title: 'Limits per second',
      width: 174,
      hint: 'Requests, and events of ingest',
      cell: ({ requestsPerSecond, eventsPerSecond }) => limitsText(requestsPerSecond, eventsPerSecond),
    },
    { id: 'made', title: 'Made', width: 108, align: 'end', cell: ({ createdAt }) => ago(createdAt, Date.now()) },
    {
      id: 'used',
      title: 'Last used',
      width: 108,
      align: 'end',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : ago(lastUsedAt, Date.now())),
    },
    {
      id: 'revoke',
      title: 'Revoke',
      width: 244,
      align: 'end',
      cell: ({ id, name, revokedAt }) =>
        revokedAt === null ? (
          <RevokeKey id={id} name={name} isOwn={id === own} onRevoked={onRevoked} />
        ) : (
          <span className="hint">revoked {ago(revokedAt, Date.now())}</span>
        ),
    },
  ];
}

function limitsText(requests: number | null, events: number | null): string {
  const said = [
    [requests, 'requests'],
    [events, 'events'],
  ] as const;
  const parts = said.flatMap(([limit, what]) =>
    limit === null ? [] : [limit === 0 ? `any ${what}` : `${count(limit)} ${what}`],
  );
  return parts.join(', ') || 'as the platform is set';
}
