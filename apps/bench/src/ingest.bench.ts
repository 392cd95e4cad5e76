import { Agent, request as send } from 'node:http';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { openPool } from '#lib/storage';
import { withApiAlone, type BenchPlatform } from './bench-platform.js';
import type { BenchRow } from './bench-row.js';
import type { Benchmark, BenchOptions } from './benchmark.js';
import { copyOfRows, ndjson } from './event-log.bench.js';

const compress = promisify(zstdCompress);
const BATCH = 2_000;
const YARDSTICK = 'COPY of one jsonb row per event, unique key';
const BYTES = 'the same on disk';

/** Durable events through HTTP, from compressed bodies to acknowledgements, beside COPY into the same server. */
export const ingest: Benchmark = {
  name: 'ingest',
  run: ({ events = 400_000 }: BenchOptions = {}) =>
    withApiAlone(async (platform) => {
      const owner = openPool(await platform.databaseUrl(), { size: 2 });
      try {
        const copy = await copyOfRows(owner);
        const bodies = await bodiesOf(BATCH);
        await ingested(platform, bodies, { producers: 1, batches: 20 }); // warms up
        const measured: [string, number][] = [];
        for (const producers of [1, 4]) {
          const batches = Math.ceil(events / BATCH / producers);
          const rate = await ingested(platform, bodies, { producers, batches });
          measured.push([`ingest through HTTP, ${producers} producer${producers > 1 ? 's' : ''}`, rate]);
        }
        const { rows } = await owner.query(
          `select sum(pg_total_relation_size(relid))::float8 as bytes, (select sum(event_count)::float8 from event_batch) as events
           from pg_partition_tree('event_batch') where isleaf`,
        );
        const bytes = rows[0].bytes / rows[0].events;
        return [
          rowOf(YARDSTICK, copy.rate, 'events/s', YARDSTICK, copy.rate),
          ...measured.map(([name, rate]) => rowOf(name, rate, 'events/s', YARDSTICK, copy.rate)),
          rowOf(`${BYTES}: COPY`, copy.bytesPerEvent, 'B/event', `${BYTES}: COPY`, copy.bytesPerEvent),
          rowOf(`${BYTES}: the log`, bytes, 'B/event', `${BYTES}: COPY`, copy.bytesPerEvent),
        ];
      } finally {
        await owner.end();
      }
    }),
};

/** How long one batch of 1,000 events takes, alone and beside four producers. */
export const appendLatency: Benchmark = {
  name: 'append-latency',
  run: ({ batches = 200 }: BenchOptions = {}) =>
    withApiAlone(async (platform) => {
      const bodies = await bodiesOf(1_000);
      await ingested(platform, bodies, { producers: 1, batches: 20 });
      const idle = await latencies(platform, bodies, batches);
      const load = await bodiesOf(BATCH);
      let stop = false;
      const loading = ingested(platform, load, { producers: 4, batches: Infinity, until: () => stop });
      const busy = await latencies(platform, bodies, batches);
      stop = true;
      await loading;
      const base = quantile(idle, 0.5);
      return [
        rowOf('append 1,000 events, idle, p50', base, 'ms', 'append 1,000 events, idle, p50', base),
        rowOf('append 1,000 events, idle, p99', quantile(idle, 0.99), 'ms', 'append 1,000 events, idle, p50', base),
        rowOf('beside four producers, p50', quantile(busy, 0.5), 'ms', 'append 1,000 events, idle, p50', base),
        rowOf('beside four producers, p99', quantile(busy, 0.99), 'ms', 'append 1,000 events, idle, p50', base),
      ];
    }),
};

function rowOf(name: string, value: number, unit: string, yardstick: string, base: number): BenchRow {
  return { name, value: Math.round(value * 10) / 10, unit, yardstick, ratio: value / base };
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** Some batches, compressed as a producer does. */
async function bodiesOf(batch: number): Promise<Buffer[]> {
  return Promise.all(Array.from({ length: 8 }, (_, n) => compress(ndjson(n * batch, batch))));
}

interface Load {
  readonly producers: number;
  /** of each producer */
  readonly batches: number;
  readonly until?: () => boolean;
}

/** @returns acknowledged events a second */
async function ingested(platform: BenchPlatform, bodies: readonly Buffer[], load: Load): Promise<number> {
  const run = await createRun(platform);
  const agent = new Agent({ keepAlive: true });
  const started = performance.now();
  const counts = await Promise.all(
    Array.from({ length: load.producers }, async (_, producer) => {
      let sequence = 0;
      for (; sequence < load.batches && !load.until?.(); sequence++) {
        await append(platform, agent, { run, producer, sequence, body: bodies[sequence % bodies.length] });
      }
      return sequence;
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  agent.destroy();
  return (counts.reduce((sum, count) => sum + count, 0) * BATCH) / seconds;
}

/** @returns milliseconds of each of so many batches of one producer */
async function latencies(platform: BenchPlatform, bodies: readonly Buffer[], batches: number): Promise<number[]> {
  const run = await createRun(platform);
  const agent = new Agent({ keepAlive: true });
  const taken: number[] = [];
  for (let sequence = 0; sequence < batches; sequence++) {
    const started = performance.now();
    await append(platform, agent, { run, producer: 0, sequence, body: bodies[sequence % bodies.length] });
    taken.push(performance.now() - started);
  }
  agent.destroy();
  return taken;
}

let runs = 0;

async function createRun({ url, key }: BenchPlatform): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ project: 'default', name: `bench-${runs++}` });
  const response = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body });
  return ((await response.json()) as { id: string }).id;
}

interface Batch {
  readonly run: string;
  readonly producer: number;
  readonly sequence: number;
  readonly body: Buffer;
}

/** By `node:http`, which costs this process less than `fetch`: the machine is shared with what is measured. */
function append({ url, key }: BenchPlatform, agent: Agent, { run, producer, sequence, body }: Batch): Promise<void> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/x-ndjson',
    'content-encoding': 'zstd',
    'content-length': body.length,
    'recredit-producer': `producer-${producer}`,
    'recredit-epoch': '0',
    'recredit-sequence': String(sequence),
  };
  return new Promise((resolve, reject) => {
    const request = send(`${url}/v1/runs/${run}/events`, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`the platform answered ${response.statusCode}`)),
      );
    });
    request.once('error', reject);
    request.end(body);
  });
}
