import { hash } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { creditFileKey } from '#lib/analysis';
import { RecreditError } from '#lib/kernel';
import type { Pool, PoolClient, SegmentStore } from '#lib/storage';
import { to as copyTo } from 'pg-copy-streams';
import { writeChecked } from './checked-file.js';
import { packed, type StoredFile } from './credit-files.js';
import { writeManifest, type Manifest } from './manifest.js';
import { keptTables } from './tables.js';

export interface BackupProgress {
  /** of the backup, written so far */
  readonly bytes: number;
  /** what is being written */
  readonly file: string;
}

const PAGE = 1000;

/**
 * Writes all that cannot be made again into an empty folder: as of one moment, whatever is appended meanwhile. Every
 * event that was acknowledged before the call is in it. Read models and segments are made of the log and are not.
 *
 * @param owner pool of the database's owner
 * @throws RecreditError `backup.refused` where the folder is not empty; what was begun is removed again
 */
export async function backUp(
  owner: Pool,
  store: Pick<SegmentStore, 'get' | 'exists'>,
  folder: string,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<Manifest> {
  await makeEmptyFolder(folder);
  const client = await owner.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const createdAt = new Date().toISOString();
    const { rows } = await client.query(
      `select (select json_agg(name order by timestamp, id) from schema_migration) as schema,
         (select count(*)::int from run) as runs,
         (select coalesce(sum(next_position), 0)::float8 from run_stream) as events`,
    );
    let bytes = 0;
    const counting = (file: string) => (more: number) => onProgress({ bytes: (bytes += more), file });
    const tables: Manifest['tables'] = [];
    for (const table of await keptTables(client)) tables.push(await copyTable(client, folder, table, counting(table)));
    const credit = await copyCredit(client, store, folder, counting('credit'));
    await client.query('commit');
    const manifest = await writeManifest(folder, { createdAt, ...rows[0], tables, credit });
    await syncFolder(folder);
    return manifest;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    for (const name of await readdir(folder)) await rm(join(folder, name));
    throw error;
  } finally {
    client.release();
  }
}

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const there = await readdir(folder);
  if (there.length === 0) return;
  throw new RecreditError('backup.refused', `an empty folder was wanted, found ${there.length} files in ${folder}`);
}

async function copyTable(
  client: PoolClient,
  folder: string,
  table: string,
  onBytes: (bytes: number) => void,
): Promise<Manifest['tables'][number]> {
  const columns = await columnsOf(client, table);
  const copy = client.query(
    copyTo(`copy (select ${columns.join(', ')} from ${table}) to stdout (format binary)`, {
      highWaterMark: 1024 * 1024,
    }),
  );
  const written = await writeChecked(folder, `${table}.copy`, copy, onBytes);
  return { table, columns, rows: copy.rowCount, ...written };
}

export async function columnsOf(client: PoolClient, table: string): Promise<string[]> {
  const { rows } = await client.query(
    `select attname::text as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [table],
  );
  return rows.map(({ name }: { name: string }) => name);
}

async function copyCredit(
  client: PoolClient,
  store: Pick<SegmentStore, 'get' | 'exists'>,
  folder: string,
  onBytes: (bytes: number) => void,
): Promise<Manifest['credit']> {
  const missing: string[] = [];
  let count = 0;
  const found = async function* (): AsyncGenerator<StoredFile> {
    for await (const { key, sha256 } of creditResults(client)) {
      const fileKey = creditFileKey(key);
      const bytes = (await store.exists(fileKey)) ? await store.get(fileKey) : null;
      if (bytes === null || hash('sha256', bytes) !== sha256) missing.push(key);
      else {
        count++;
        yield { key: fileKey, bytes };
      }
    }
  };
  const written = await writeChecked(folder, 'credit.files', packed(found()), onBytes);
  return { ...written, count, missing };
}

async function* creditResults(client: PoolClient): AsyncGenerator<{ key: string; sha256: string }> {
  for (let after = ''; ;) {
    const { rows } = await client.query<{ key: string; sha256: string }>(
      `select key, encode(file_sha256, 'hex') as sha256 from credit_result
       where outcome = 'credit' and key > $1 order by key limit ${PAGE}`,
      [after],
    );
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows[rows.length - 1].key;
  }
}

/** Otherwise a power cut may forget the names of files whose bytes are there. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
