import { pipeline } from 'node:stream/promises';
import { EventLog, sealBatch } from '#lib/event-log';
import { newId } from '#lib/kernel';
import { openPool, type Pool } from '#lib/storage';
import { from as copyFrom } from 'pg-copy-streams';
import type { BenchRow } from './bench-row.js';

const EVENT_BYTES = 463;
const YARDSTICK = 'COPY of one jsonb row per event';
const CASES = [
  { producers: 1, batchSize: 100, batches: 300, inFlight: 1 },
  { producers: 1, batchSize: 100, batches: 600, inFlight: 8 },
  { producers: 1, batchSize: 1000, batches: 150, inFlight: 1 },
  { producers: 1, batchSize: 1000, batches: 200, inFlight: 8 },
  { producers: 8, batchSize: 100, batches: 150, inFlight: 1 },
  { producers: 8, batchSize: 1000, batches: 40, inFlight: 1 },
];

/** Events per second from bytes in memory to an acknowledgement: hashing, compression, the run's lock, fsync. */
export async function benchEventLog(ctx: { ownerUrl: string; appUrl: string }): Promise<BenchRow[]> {
  const owner = openPool(ctx.ownerUrl, { size: 2 });
  const pool = openPool(ctx.appUrl, { size: 8 });
  const log = new EventLog(pool);
  try {
    const { rate: yardstick } = await copyOfRows(owner);
    const rows: BenchRow[] = [row(YARDSTICK, yardstick, yardstick)];
    await eventsPerSecond(log, owner, { producers: 4, batchSize: 100, batches: 20, inFlight: 1 }); // warms up
    for (const each of CASES) {
      const { producers, batchSize, inFlight } = each;
      const who = producers === 1 ? 'one producer' : `${producers} producers of one run`;
      const how = inFlight === 1 ? '' : `, ${inFlight} in flight`;
      rows.push(
        row(`append: ${who}, batches of ${batchSize}${how}`, await eventsPerSecond(log, owner, each), yardstick),
      );
    }
    return rows;
  } finally {
    await log.close();
    await Promise.all([owner.end(), pool.end()]);
  }
}

function row(name: string, value: number, yardstick: number): BenchRow {
  return { name, value: Math.round(value), unit: 'events/s', yardstick: YARDSTICK, ratio: value / yardstick };
}

interface Load {
  readonly producers: number;
  readonly batchSize: number;
  /** of each producer */
  readonly batches: number;
  readonly inFlight: number;
}

async function eventsPerSecond(log: EventLog, owner: Pool, load: Load): Promise<number> {
  const { producers, batchSize, batches } = load;
  const runId = await registerRun(owner);
  const contents = Array.from({ length: 8 }, (_, n) => ndjson(n * batchSize, batchSize));
  const started = performance.now();
  await Promise.all(Array.from({ length: producers }, (_, p) => produce(log, runId, `producer-${p}`, contents, load)));
  return (producers * batches * batchSize) / ((performance.now() - started) / 1000);
}

/** Sends in order, with up to `inFlight` batches that are not acknowledged yet. */
async function produce(
  log: EventLog,
  runId: string,
  producerId: string,
  contents: Buffer[],
  load: Load,
): Promise<void> {
  const unacknowledged: Promise<unknown>[] = [];
  let before: Promise<unknown> = Promise.resolve();
  for (let sequence = 0; sequence < load.batches; sequence++) {
    if (unacknowledged.length === load.inFlight) await unacknowledged.shift();
    const bytes = contents[sequence % contents.length];
    const sealing = sealBatch({ producerId, epoch: 0, sequence, ndjson: bytes, eventCount: load.batchSize });
    const sent = before.then(async () => ({ answer: log.append(runId, await sealing) }));
    before = sent;
    unacknowledged.push(sent.then(({ answer }) => answer));
  }
  await Promise.all(unacknowledged);
}

/**
 * The best case for rows: one statement, one transaction, one index.
 *
 * @returns events a second, and the bytes that they take on disk
 */
export async function copyOfRows(owner: Pool, count = 150_000): Promise<{ rate: number; bytesPerEvent: number }> {
  const client = await owner.connect();
  try {
    await client.query(
      'create table bench_event (run_id text, position bigint, event jsonb, primary key (run_id, position))',
    );
    const chunks = Array.from({ length: count / 1000 }, (_, i) => copyRows(i * 1000, 1000));
    const started = performance.now();
    await pipeline(chunks, client.query(copyFrom('copy bench_event from stdin')));
    const rate = count / ((performance.now() - started) / 1000);
    const { rows } = await client.query(`select pg_total_relation_size('bench_event')::float8 as bytes`);
    return { rate, bytesPerEvent: rows[0].bytes / count };
  } finally {
    await client.query('drop table if exists bench_event');
    client.release();
  }
}

function copyRows(first: number, count: number): Buffer {
  const lines = Array.from({ length: count }, (_, i) => `bench\t${first + i}\t${event(first + i)}\n`);
  return Buffer.from(lines.join(''));
}

export function ndjson(first: number, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, i) => `${event(first + i)}\n`).join(''));
}

const WORDS =
  'go to the cabinet drawer shelf and open take put heat cool clean examine apple mug lamp pan with on'.split(' ');

/** A turn of 463 bytes, of words and numbers as a text world has them. */
function event(index: number): string {
  const fraction = (salt: number) => ((index * 2654435761 + salt * 40503) % 1_000_003) / 1_000_003;
  const turn = {
    type: 'turn.recorded',
    at: new Date(1_767_225_600_000 + index * 137).toISOString(),
    trajectory: `trajectory-${Math.floor(index / 12)}`,
    group: `task-${Math.floor(index / 96)}`,
    trainingStep: Math.floor(index / 960),
    turn: index % 12,
    action: WORDS.slice(index % 15, (index % 15) + 4).join(' '),
    reward: 0,
    signals: { valueEstimate: fraction(1), entropy: fraction(2), logprob: -fraction(3) },
    state: '',
  };
  const missing = EVENT_BYTES - 1 - JSON.stringify(turn).length;
  for (let word = 0; turn.state.length < missing; word++) {
    turn.state += `${WORDS[Math.floor(fraction(word + 4) * WORDS.length)]} `;
  }
  return JSON.stringify({ ...turn, state: turn.state.slice(0, missing) });
}

async function registerRun(owner: Pool): Promise<string> {
  const [project, run] = [newId(), newId()];
  await owner.query('insert into project (id, name) values ($1, $1)', [project]);
  await owner.query('insert into run (id, project_id, name) values ($1, $2, $1)', [run, project]);
  return run;
}
