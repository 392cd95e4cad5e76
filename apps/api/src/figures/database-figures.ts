import { shardTimes } from '#lib/analysis';
import { projectorLag } from '#lib/projection';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ApiPorts } from '../ports.js';

/** Runs that are named: those that lag most. The others are in the sum, so that a thousand runs are no thousand series. */
const NAMED_RUNS = 50;
/** However often it is asked, the database is read no more often than this. */
const REMEMBERED_MS = 2000;
/** A database that does not answer must not keep the other figures waiting. */
const PATIENCE_MS = 5000;

type Ports = Pick<ApiPorts, 'platform' | 'queue'>;

async function look({ platform, queue }: Ports) {
  const [lag, jobs, shards] = await Promise.all([
    projectorLag(platform, NAMED_RUNS),
    queue.depths(),
    shardTimes(platform),
  ]);
  return { lag, jobs, shards };
}

type Found = Awaited<ReturnType<typeof look>>;
type Tell = (found: Found | null, say: (value: number, labels?: Record<string, string>) => void) => void;

/** The figures that the database knows, whichever process made them. Without it they are left out, and `up` is 0. */
export function addDatabaseFigures(ports: Ports, registry: Registry): void {
  const found = remembered(ports);
  const gauge = (name: string, help: string, labelNames: readonly string[], tell: Tell) =>
    registry.registerMetric(
      new Gauge({
        name: `recredit_${name}`,
        help,
        labelNames,
        registers: [],
        async collect() {
          const now = await found();
          this.reset(); // what is no longer there is no longer told
          tell(now, (value, labels = {}) => this.set(labels, value));
        },
      }),
    );
  const counter = (name: string, help: string, labelNames: readonly string[], tell: Tell) =>
    registry.registerMetric(
      new Counter({
        name: `recredit_${name}`,
        help,
        labelNames,
        registers: [],
        async collect() {
          const now = await found();
          this.reset();
          tell(now, (value, labels = {}) => this.inc(labels, value));
        },
      }),
    );

  gauge('database_up', 'Whether the database answered the question for the figures below', [], (found, say) =>
    say(found ? 1 : 0),
  );
  const behind = 'Events that the read models do not show yet';
  gauge('projector_lag_events', `${behind}, of the ${NAMED_RUNS} runs that lag most`, ['run'], (found, say) => {
    for (const { run, events } of found?.lag.runs ?? []) say(events, { run });
  });
  gauge('projector_lag_all_events', `${behind}, of all runs`, [], (found, say) => {
    if (found) say(found.lag.events);
  });
  gauge('projector_lagging_runs', 'Runs whose read models are behind their log', [], (found, say) => {
    if (found) say(found.lag.laggingRuns);
  });
  gauge('queue_jobs', 'Jobs that wait, run, or have failed for good', ['job', 'state'], (found, say) => {
    for (const { job, state, count } of found?.jobs ?? []) say(count, { job, state });
  });
  counter('shard_seconds_total', 'Time that stored results took', ['estimator', 'device'], (found, say) => {
    for (const { estimator, device, seconds } of found?.shards ?? []) say(seconds, { estimator, device });
  });
  counter('shard_results_total', 'Stored results', ['estimator', 'device', 'outcome'], (found, say) => {
    for (const { estimator, device, credit, missing } of found?.shards ?? []) {
      say(credit, { estimator, device, outcome: 'credit' });
      say(missing, { estimator, device, outcome: 'missing' });
    }
  });
}

/** Asks the database, but no more often than it has to be asked. */
function remembered(ports: Ports): () => Promise<Found | null> {
  let found: Promise<Found | null> = Promise.resolve(null);
  let until = 0;
  return () => {
    if (performance.now() < until) return found;
    until = performance.now() + REMEMBERED_MS;
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(resolve, PATIENCE_MS, null);
    found = Promise.race([look(ports).catch(() => null), late]).finally(() => clearTimeout(timer));
    return found;
  };
}
