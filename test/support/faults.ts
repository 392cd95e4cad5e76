import { setTimeout as sleep } from 'node:timers/promises';
import { headOf } from '#lib/event-log';
import type { Random } from '#lib/numeric';
import type { PoolClient } from '#lib/storage';
import { startAnalysis, whenEnded } from './analyses.js';
import type { Cluster } from './cluster.js';
import type { LedgerTrainers } from './ledger-trainers.js';
import { batchesOf, linesOfClients } from './log-lines.js';
import { deliver, rawBatch, type RawTarget } from './raw-writer.js';
import { until } from './served-platform.js';
import type { SmallDisk } from './small-disk.js';

const HOUR_MS = 3_600_000;
/** For what takes a second or two on a machine that does nothing else. */
const PATIENCE_MS = 180_000;

/** What a fault may break: a cluster, and trainers that are writing to one run of it. */
export interface World {
  readonly cluster: Cluster;
  readonly trainers: LedgerTrainers;
  readonly runId: string;
  readonly random: Random;
  /** what was not as promised, seen while it happened */
  readonly findings: string[];
}

export interface Fault {
  readonly name: string;
  /** that can be filled: mounting them is not permitted everywhere */
  readonly needsDisks?: true;
  /** Breaks something, and returns when nothing is left broken. */
  readonly inject: (world: World) => Promise<void>;
}

export const FAULTS: readonly Fault[] = [
  { name: 'kill -9 of an API during ingest', inject: killApi },
  { name: 'kill -9 of the API that has the database as its child', inject: killFirst },
  { name: 'kill -9 of Postgres during ingest, then of one of its backends', inject: killPostgres },
  { name: 'kill -9 of the workers inside a shard', inject: killInsideShard },
  { name: 'kill -9 of the projector between two batches', inject: killBetweenBatches },
  { name: 'kill -9 of an SDK process with events in its spool', inject: killTrainer },
  { name: 'kill -9 of everything at once', inject: killEverything },
  { name: 'connections torn at a random byte', inject: tearConnections },
  { name: 'answers lost after the commit', inject: loseAnswers },
  { name: 'requests of the SDK doubled and delayed by the network', inject: doubleRequests },
  { name: 'batches doubled, delayed and out of order', inject: shuffleBatches },
  { name: '24 writers on one run, with transactions held open', inject: holdTransactions },
  { name: 'a full disk under the database', needsDisks: true, inject: fillDatabase },
  { name: 'a full disk under the segments', needsDisks: true, inject: fillSegments },
  { name: 'a full disk under the spool', needsDisks: true, inject: fillSpool },
  { name: 'clocks that step backwards', inject: stepClocks },
];

/** Waits until the trainers got so many more acknowledgements. */
export async function progress({ trainers, runId }: World, events = 100): Promise<void> {
  const count = () => trainers.ledger(runId).acknowledged.length;
  const before = count();
  await until('the trainers get on', PATIENCE_MS, () => sleep(50, count() >= before + events));
}

const aMoment = (random: Random, ms: number) => sleep(random.next() * ms);

async function killApi({ cluster, random }: World): Promise<void> {
  await cluster.second.kill();
  await aMoment(random, 500);
  await cluster.startSecond();
}

async function killFirst({ cluster, random }: World): Promise<void> {
  await cluster.first.kill();
  await aMoment(random, 500);
  await cluster.startAll();
}

async function killPostgres(world: World): Promise<void> {
  const { cluster, random } = world;
  const { pid } = cluster.first.postgres()!;
  process.kill(pid, 'SIGKILL');
  await until('another Postgres is there', PATIENCE_MS, async () => {
    const now = cluster.first.postgres()?.pid;
    return now !== undefined && now !== pid && (await cluster.answers());
  });
  await progress(world);
  const { rows } = await cluster
    .pools()
    .pool.query(`select pid from pg_stat_activity where application_name = 'recredit api' order by pid`);
  process.kill(rows[random.integer(rows.length)].pid, 'SIGKILL');
  await until('Postgres answers again', PATIENCE_MS, () => cluster.answers());
}

/** All that compute are held where they would store their first result, so that they are inside a shard for certain. */
async function killInsideShard(world: World): Promise<void> {
  const { cluster, runId, findings } = world;
  const victims = cluster.workers();
  const analysis = await held(
    cluster,
    (client) => client.query('lock table credit_result in share mode'),
    async () => {
      const id = await startAnalysis(cluster.second, runId, ['grpo', 'gigpo']);
      await until('a worker is inside a shard', PATIENCE_MS, async () => {
        // not on the connection with the lock: a transaction sees the same activity for as long as it lasts
        const { rows } = await cluster.pools().owner.query(
          `select count(*)::int as stopped from pg_stat_activity
           where wait_event_type = 'Lock' and query like 'insert into credit_result%'`,
        );
        return rows[0].stopped > 0;
      });
      for (const pid of victims) process.kill(pid, 'SIGKILL');
      return id;
    },
  );
  const { state, failure, progress: shards } = await whenEnded(cluster.first, analysis);
  if (state !== 'COMPLETED' || shards.failed > 0 || shards.done !== shards.total || shards.total === 0) {
    findings.push(`the analysis ended as ${JSON.stringify({ state, failure, shards })}`);
  }
  await cluster.allWorkersAreBack();
  if (cluster.workers().some((pid) => victims.includes(pid))) findings.push('a killed worker is still there');
}

/** The lock of the run's projection is ours, so what was projected is stored and what follows has not begun. */
async function killBetweenBatches({ cluster, runId }: World): Promise<void> {
  await held(
    cluster,
    (client) => client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`projection of ${runId}`]),
    async (client) => {
      await until('there is more to project', PATIENCE_MS, async () => {
        const { rows } = await client.query(
          'select position::float8 from projection_checkpoint where run_id = $1 and position > 0',
          [runId],
        );
        return rows.length > 0 && (await headOf(client, runId)) > rows[0].position + 100;
      });
      for (const pid of cluster.workers()) process.kill(pid, 'SIGKILL');
    },
  );
  await cluster.allWorkersAreBack();
}

async function killTrainer(world: World): Promise<void> {
  const { cluster, trainers } = world;
  cluster.proxy.cut();
  await waitForBacklog(world, 150);
  await trainers.kill(1);
  cluster.proxy.mend();
  trainers.start(1);
}

async function killEverything({ cluster, trainers }: World): Promise<void> {
  const count = trainers.alive.length;
  const postgres = cluster.first.postgres()!.pid;
  const pids = [postgres, ...cluster.workers(), ...trainers.alive.map(({ pid }) => pid!)];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await Promise.all([cluster.first.kill(), cluster.second.kill(), trainers.kill()]);
  await cluster.startAll();
  trainers.start(count);
}

async function tearConnections(world: World): Promise<void> {
  const { random } = world;
  // most bytes of an exchange are the request's; a few hundred are the answer's
  const { seen } = world.cluster.proxy;
  const before = seen.torn;
  await onTheWay(world, 12, () => ({ kind: 'torn', afterBytes: 1 + Math.floor(2 ** (12 * random.next())) }));
  await until('connections were torn', PATIENCE_MS, () => seen.torn > before);
}

async function loseAnswers(world: World): Promise<void> {
  const { trainers, runId } = world;
  const before = trainers.ledger(runId).again;
  await onTheWay(world, 12, () => ({ kind: 'answer-lost' }));
  await until('the log recognised what was sent again', PATIENCE_MS, () => trainers.ledger(runId).again > before);
}

async function doubleRequests(world: World): Promise<void> {
  const { random, cluster, findings } = world;
  const before = cluster.proxy.seen.recognised;
  await onTheWay(world, 16, (i) =>
    i % 2 === 0 ? { kind: 'doubled', afterMs: random.integer(800) } : { kind: 'delayed', ms: random.integer(300) },
  );
  await cluster.proxy.settled();
  if (cluster.proxy.seen.recognised === before) findings.push('no doubled batch was answered as known');
}

async function onTheWay(
  { cluster, random }: World,
  count: number,
  fault: (i: number) => (typeof cluster.proxy.faults)[number],
): Promise<void> {
  const { proxy } = cluster;
  for (let i = 0; i < count; i++) {
    proxy.faults.push(fault(i));
    await aMoment(random, 60);
  }
  await until('the network has done it', PATIENCE_MS, () => proxy.faults.length === 0);
}

/** One producer; eight batches at a time in any order, each up to three times, at any API. */
async function shuffleBatches(world: World): Promise<void> {
  const { random } = world;
  const target = rawTarget(world, 'shuffled');
  const producer = `shuffled${random.integer(1e9)}`;
  for (let window = 0; window < 5; window++) {
    const copies = Array.from({ length: 8 }, (_, i) => rawBatch(producer, window * 8 + i, random)).flatMap((batch) =>
      Array.from({ length: 1 + random.integer(3) }, () => ({ batch, afterMs: random.next() * 80 })),
    );
    await Promise.all(
      copies.map(async ({ batch, afterMs }) => {
        await sleep(afterMs);
        await deliver(target, batch, random);
      }),
    );
  }
}

async function holdTransactions(world: World): Promise<void> {
  const { cluster, random, runId } = world;
  const target = rawTarget(world, 'crowd');
  const crowd = `crowd${random.integer(1e9)}`;
  const written = new AbortController();
  const holder = async () => {
    const lock = (client: PoolClient) => client.query('select from run_stream where run_id = $1 for update', [runId]);
    while (!written.signal.aborted) {
      await held(cluster, lock, () => aMoment(random, 300));
      await aMoment(random, 100);
    }
  };
  const holding = [holder(), holder()];
  await Promise.all(
    Array.from({ length: 24 }, async (_, writer) => {
      for (let sequence = 0; sequence < 10; sequence++) {
        await deliver(target, rawBatch(`${crowd}.${writer}`, sequence, random), random);
      }
    }),
  ).finally(() => written.abort());
  await Promise.all(holding);
}

async function fillDatabase(world: World): Promise<void> {
  const { cluster, random } = world;
  await filled(cluster.disks!.database, random.integer(400_000), () => aMoment(random, 4_000));
  await until('the database answers again', PATIENCE_MS, () => cluster.answers());
}

async function fillSegments({ cluster, random, runId, findings }: World): Promise<void> {
  const analysis = await filled(cluster.disks!.segments, random.integer(20_000), async () => {
    const id = await startAnalysis(cluster.first, runId, ['grpo']);
    await aMoment(random, 3_000);
    return id;
  });
  const { state } = await whenEnded(cluster.first, analysis);
  if (state !== 'COMPLETED') findings.push(`an analysis begun on a full disk ended as ${state}`);
}

/** With nobody to take what is in it, so that it fills. What the SDK took before and after must arrive. */
async function fillSpool({ cluster, trainers, runId, random }: World): Promise<void> {
  const before = trainers.ledger(runId).refused;
  cluster.proxy.cut();
  await filled(cluster.disks!.spool, random.integer(60_000), () =>
    until('the SDK takes no more', PATIENCE_MS, () => sleep(50, trainers.ledger(runId).refused > before)),
  );
  cluster.proxy.mend();
}

async function stepClocks(world: World): Promise<void> {
  const { cluster, random, runId, findings } = world;
  for (const offset of [-random.next() * 48 * HOUR_MS, -60 * HOUR_MS, 0, -2_000]) {
    cluster.setClocks(Math.round(offset));
    await progress(world);
  }
  cluster.setClocks(0);
  const lines = [...linesOfClients(await batchesOf(cluster.pools().pool, runId))];
  const oldest = Math.min(...lines.map(({ line }) => Date.parse((JSON.parse(line) as { at: string }).at)));
  if (oldest > Date.now() - 59 * HOUR_MS) findings.push('no event says that its clock was set back');
}

async function waitForBacklog({ trainers, runId }: World, events: number): Promise<void> {
  await until('events wait in the spool', PATIENCE_MS, () => {
    const { recorded, acknowledged } = trainers.ledger(runId);
    const known = new Set(acknowledged.map(({ id }) => id));
    return sleep(50, recorded.filter((id) => !known.has(id)).length >= events);
  });
}

function rawTarget({ cluster, trainers, runId }: World, name: string): RawTarget {
  const { platforms, first } = cluster;
  return { urls: platforms.map(({ url }) => url), key: first.key, runId, ledger: trainers.newLedger(name) };
}

/** Does `work` while a transaction of the database's owner holds a lock. */
async function held<T>(
  cluster: Cluster,
  lock: (client: PoolClient) => Promise<unknown>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await cluster.pools().owner.connect();
  try {
    await client.query('begin');
    await lock(client);
    return await work(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function filled<T>(disk: SmallDisk, moreBytes: number, meanwhile: () => Promise<T>): Promise<T> {
  disk.fill(moreBytes);
  try {
    return await meanwhile();
  } finally {
    disk.makeRoom();
  }
}
