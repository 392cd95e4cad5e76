import { graphql, type ResultOf } from '../../graphql.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Text } from '../../ui/Text.js';
import { useAsked } from '../../use-asked.js';

const DevicesQuery = graphql(`
  query Devices {
    devices {
      id
      description
    }
  }
`);

type Device = ResultOf<typeof DevicesQuery>['devices'][number];

const COLUMNS: readonly Column<Device>[] = [
  { id: 'id', title: 'Device', cell: ({ id }) => <Text>{id}</Text> },
  { id: 'description', title: 'What it is', cell: ({ description }) => <Text>{description}</Text> },
];

/** What shards can be computed on. */
export function DevicesPage() {
  const { data, error, again } = useAsked({ query: DevicesQuery, requestPolicy: 'cache-and-network' });
  return (
    <>
      <Head title="Devices" />
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={41} count={2} />}
      {data?.devices.length === 0 && <Empty title="No device answers: no worker is running" />}
      {data && data.devices.length > 0 && (
        <section className="panel">
          <DataTable label="Devices" rows={data.devices} columns={COLUMNS} keyOf={({ id }) => id} />
        </section>
      )}
    </>
  );
}
