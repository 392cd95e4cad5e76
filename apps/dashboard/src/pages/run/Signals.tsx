import { graphql, type ResultOf } from '../../graphql.js';
import { count, decimal } from '../../text/numbers.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { useLiveQuery } from './live-query.js';

const SignalFields = graphql(`
  fragment SignalRow on SignalSummary @_unmask {
    level
    name
    source
    rows
    minimum
    maximum
    mean
    meaning
    suggestion
  }
`);

const SignalsQuery = graphql(
  `
    query Signals($run: ID!) {
      run(id: $run) {
        id
        signals {
          ...SignalRow
        }
      }
    }
  `,
  [SignalFields],
);

type Signal = ResultOf<typeof SignalFields>;

const COLUMNS: readonly Column<Signal>[] = [
  {
    id: 'name',
    title: 'Signal',
    cell: ({ level, name, source, meaning, suggestion }) => (
      <>
        <span className="hint">{level}.</span>
        <Text>{name}</Text>
        {source === 'annotated' && <small> annotated</small>}
        {meaning === null && <small> {suggestion === null ? 'not known' : `not known: ${suggestion}?`}</small>}
      </>
    ),
  },
  { id: 'rows', title: 'Rows', align: 'end', cell: ({ rows }) => count(rows) },
  { id: 'mean', title: 'Mean', align: 'end', cell: ({ mean }) => decimal(mean, 2) },
  {
    id: 'range',
    title: 'Range',
    align: 'end',
    cell: ({ minimum, maximum }) => (minimum === null ? '–' : `${decimal(minimum, 2)} to ${decimal(maximum, 2)}`),
  },
];

/** What the run carries, and so which estimators can speak. */
export function Signals({ run, position }: { readonly run: string; readonly position: number }) {
  const { data, error, again } = useLiveQuery(SignalsQuery, { run }, position);
  const rows = data?.run?.signals ?? [];
  return (
    <Panel title="Signals">
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={36} count={6} />}
      {data && rows.length === 0 && <Empty title="No trajectory carries a signal yet" />}
      {rows.length > 0 && (
        <DataTable
          label="Signals"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ level, name, source }) => `${level}.${name}.${source}`}
        />
      )}
    </Panel>
  );
}
