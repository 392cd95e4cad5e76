import { useState } from 'react';
import { useMutation } from 'urql';
import { graphql, type ResultOf } from '../../graphql.js';
import { mayAnalyze, useSession } from '../../session.js';
import { ago, count, seconds } from '../../text/numbers.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { useAsked } from '../../use-asked.js';
import { usePolling } from '../../use-live.js';

const DevicesQuery = graphql(`
  query Devices {
    devices {
      id
      description
      results
      seconds
    }
    workerDevices {
      host
      device
      isThere
      isChosen
      found
      lookedAt
    }
  }
`);

const LookMutation = graphql(`
  mutation LookForDevices {
    lookForDevices
  }
`);

type Found = ResultOf<typeof DevicesQuery>;
type Device = Found['devices'][number];
type WorkerDevice = Found['workerDevices'][number];

const POLL_MS = 1000;
/** A driver may take a while to load; then no worker is running. */
const PATIENCE_MS = 30_000;

const USED: readonly Column<Device>[] = [
  { id: 'id', title: 'Device', cell: ({ id }) => <Text>{id}</Text> },
  { id: 'description', title: 'What it is', cell: ({ description }) => <Text>{description}</Text> },
  { id: 'results', title: 'Results', align: 'end', cell: ({ results }) => count(results) },
  { id: 'seconds', title: 'Computed in', align: 'end', cell: (device) => seconds(device.seconds) },
];

const FOUND: readonly Column<WorkerDevice>[] = [
  { id: 'device', title: 'Device', cell: ({ device }) => <Text>{device}</Text> },
  { id: 'state', title: 'State', cell: stateOf },
  { id: 'found', title: 'What was found', cell: ({ found }) => <Text>{found}</Text> },
  { id: 'host', title: 'Machine', cell: ({ host }) => <Text>{host}</Text> },
  { id: 'looked', title: 'Looked', align: 'end', cell: ({ lookedAt }) => ago(lookedAt, Date.now()) },
];

function stateOf({ isThere, isChosen }: WorkerDevice): string {
  if (isChosen) return 'taken';
  return isThere ? 'not taken' : 'not here';
}

/** What shards were computed on, and what they could be. */
export function DevicesPage() {
  const { session } = useSession();
  const { data, error, again } = useAsked({ query: DevicesQuery, requestPolicy: 'cache-and-network' });
  const [{ error: refused }, look] = useMutation(LookMutation);
  /** when somebody asked here, and what stood there then */
  const [asked, setAsked] = useState<{ readonly at: number; readonly seen: string } | null>(null);
  const stamp = newest(data?.workerDevices ?? []);
  const isLooking = asked !== null && stamp === asked.seen && Date.now() < asked.at + PATIENCE_MS;
  const isSilent = asked !== null && stamp === asked.seen && !isLooking;
  usePolling(() => isLooking && again(), POLL_MS);
  const ask = async () => {
    setAsked({ at: Date.now(), seen: stamp });
    const { error: failed } = await look({});
    if (failed) setAsked(null);
  };

  return (
    <>
      <Head title="Devices" />
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={41} count={4} />}
      {data && (
        <>
          <Panel title="What computed the stored results">
            <DataTable label="Devices" rows={data.devices} columns={USED} keyOf={({ id }) => id} />
          </Panel>
          <Panel
            title="On the workers' machines"
            hint="for estimators that learn, and to compare states; RECREDIT_DEVICE chooses"
            actions={
              mayAnalyze(session) && (
                <button type="button" onClick={() => void ask()} disabled={isLooking}>
                  {isLooking ? 'Looking …' : 'Look for devices'}
                </button>
              )
            }
          >
            {refused && <Failure message={refused.message} />}
            {isSilent && <Failure message="No worker has answered. Is one running?" />}
            {data.workerDevices.length === 0 && !isSilent && (
              <Empty title="Nobody has looked yet">
                <p>Devices are not loaded before something needs them.</p>
              </Empty>
            )}
            {data.workerDevices.length > 0 && (
              <DataTable
                label="Devices of workers"
                rows={data.workerDevices}
                columns={FOUND}
                keyOf={({ host, device }) => `${host} ${device}`}
              />
            )}
          </Panel>
        </>
      )}
    </>
  );
}

function newest(devices: readonly WorkerDevice[]): string {
  return devices.reduce((latest, { lookedAt }) => (lookedAt > latest ? lookedAt : latest), '');
}
