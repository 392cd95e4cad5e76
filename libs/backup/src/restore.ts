import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { verifyRun } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { inTransaction, type Pool, type PoolClient, type SegmentStore } from '#lib/storage';
import { from as copyFrom } from 'pg-copy-streams';
import { advanceSequences } from './advance-sequences.js';
import { columnsOf } from './back-up.js';
import { assertWhole } from './checked-file.js';
import { unpacked } from './credit-files.js';
import { damaged } from './damaged.js';
import { readManifest, type Manifest } from './manifest.js';
import { keptTables } from './tables.js';

export interface RestorePorts {
  /** of the database's owner; the database is migrated */
  readonly owner: Pool;
  readonly store: Pick<SegmentStore, 'put'>;
  /** queues the plan of analyses that were under way, within the transaction */
  readonly plan: (analysisIds: readonly string[], client: PoolClient) => Promise<void>;
  readonly onProgress?: (what: 'checking' | 'restoring' | 'verifying', done: number, total: number) => void;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly runs: number;
  readonly batches: number;
  readonly events: number;
}

/**
 * Puts a backup into an empty platform of the same version, in one transaction: all of it or nothing. Every byte is
 * checked before the first is written, and the chain of every run before it counts. What was made of the log is made
 * again by the next worker.
 *
 * @throws RecreditError `backup.damaged`; `backup.refused` where the platform is not empty or of another version
 */
export async function restore(ports: RestorePorts, folder: string): Promise<Restored> {
  const { owner, store, plan, onProgress = () => {} } = ports;
  const manifest = await readManifest(folder);
  await assertSameSchema(owner, manifest);
  await checkFiles(folder, manifest, onProgress);
  return inTransaction(owner, async (client) => {
    const tables = await keptTables(client);
    assertSameTables(tables, manifest);
    await assertEmpty(client, tables);
    for (const [i, { table }] of manifest.tables.entries()) {
      onProgress('restoring', i, manifest.tables.length);
      await loadTable(client, folder, manifest.tables[i], table);
    }
    await advanceSequences(client, tables);
    const verified = await verifyAll(client, manifest, onProgress);
    await resume(client, manifest, plan);
    for await (const { key, bytes } of unpacked(join(folder, manifest.credit.file))) await store.put(key, bytes);
    return { manifest, ...verified };
  });
}

async function assertSameSchema(owner: Pool, { schema }: Manifest): Promise<void> {
  const { rows } = await owner.query('select name from schema_migration order by timestamp, id');
  const ours = rows.map(({ name }: { name: string }) => name);
  if (ours.join() === schema.join()) return;
  const older = schema.filter((name) => !ours.includes(name));
  const newer = ours.filter((name) => !schema.includes(name));
  const why = [
    older.length > 0 && `the backup has ${older.join(', ')}, which this version does not know`,
    newer.length > 0 && `this version has ${newer.join(', ')}, which the backup does not know`,
  ].filter(Boolean);
  throw new RecreditError(
    'backup.refused',
    `the backup was made by another version (${why.join('; ')}): restore it with that one, then upgrade`,
  );
}

async function checkFiles(
  folder: string,
  { tables, credit }: Manifest,
  onProgress: NonNullable<RestorePorts['onProgress']>,
): Promise<void> {
  const files = [...tables, credit];
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const file of files) await assertWhole(folder, file, (bytes) => onProgress('checking', (done += bytes), total));
}

function assertSameTables(wanted: readonly string[], { tables }: Manifest): void {
  const found = tables.map(({ table }) => table);
  if (found.join() !== wanted.join())
    throw damaged(`the tables ${wanted.join(', ')} were wanted, found ${found.join(', ')}`);
}

/** Nobody can add anything meanwhile: a platform that starts now waits. */
async function assertEmpty(client: PoolClient, tables: readonly string[]): Promise<void> {
  await client.query(`lock table ${tables.join(', ')} in share row exclusive mode`);
  const { rows } = await client.query(
    `select (select count(*)::int from run) as run, (select count(*)::int from api_key) as "key",
       (select count(*)::int from project) as project`,
  );
  const found = Object.entries(rows[0] as Record<string, number>).filter(([, count]) => count > 0);
  if (found.length === 0) return;
  const what = found.map(([name, count]) => `${count} ${name}${count === 1 ? '' : 's'}`).join(', ');
  throw new RecreditError(
    'backup.refused',
    `an empty platform was wanted, one that was never started; found ${what}. Name another RECREDIT_HOME or database`,
  );
}

async function loadTable(
  client: PoolClient,
  folder: string,
  { file, columns, rows }: Manifest['tables'][number],
  table: string,
): Promise<void> {
  const known = await columnsOf(client, table);
  if (known.join() !== columns.join())
    throw damaged(`${table}: the columns ${known.join()} were wanted, found ${columns.join()}`);
  const load = client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin (format binary)`));
  await pipeline(createReadStream(join(folder, file), { highWaterMark: 1024 * 1024 }), load);
  if (load.rowCount !== rows) throw damaged(`${file}: ${rows} rows were written, found ${load.rowCount}`);
}

async function verifyAll(
  client: PoolClient,
  manifest: Manifest,
  onProgress: NonNullable<RestorePorts['onProgress']>,
): Promise<{ runs: number; batches: number; events: number }> {
  const { rows } = await client.query('select id from run order by id');
  const sum = { runs: rows.length, batches: 0, events: 0 };
  for (const { id } of rows as { id: string }[]) {
    const { broken, batches, events } = await verifyRun(client, id);
    if (broken) {
      const { position, what, expected, found } = broken;
      throw damaged(`run ${id} at position ${position}: ${what}: expected ${expected}, found ${found}`);
    }
    sum.batches += batches;
    sum.events += events;
    onProgress('verifying', sum.events, manifest.events);
  }
  if (sum.runs === manifest.runs && sum.events === manifest.events) return sum;
  throw damaged(
    `${manifest.runs} runs with ${manifest.events} events were backed up, found ${sum.runs} with ${sum.events}`,
  );
}

/** What was under way goes on: its jobs were in a queue that no backup holds. */
async function resume(client: PoolClient, { credit }: Manifest, plan: RestorePorts['plan']): Promise<void> {
  await client.query(`update analysis_shard set state = 'queued' where state = 'running'`);
  await client.query(`delete from credit_result where key = any ($1)`, [credit.missing]);
  const { rows } = await client.query(`select id from analysis where state in ('planning', 'running') order by id`);
  await plan(
    rows.map(({ id }: { id: string }) => id),
    client,
  );
}
