import { Pool, type PoolClient } from 'pg';
import type { Columns, Parameter } from './binary-rows.js';

export type { Pool, PoolClient };

/** What runs one statement: a pool, a client in a transaction, or a test's fake. */
export interface Queryable {
  // the driver's own shape: a row is whatever the statement selects
  // oxlint-disable-next-line typescript/no-explicit-any
  query(sql: string, params?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>;
  /** the rows of a SELECT, as bytes; not there: it has no faster way than `query` */
  binary?<Row>(sql: string, params: readonly Parameter[], columns: Columns<Row>): Promise<Row[]>;
}

export interface PoolOptions {
  /** the role taken after login; none: the owner, for migrations and administrative acts */
  readonly role?: 'recredit_app';
  /** what row-level security lets every connection see from the start; '*' is for the platform's own work */
  readonly projects?: '*';
  readonly size?: number;
  readonly applicationName?: string;
}

/** The one place where pools are made. Positions are bigint: select them as `::float8`, or they arrive as text. */
export function openPool(
  url: string,
  { role, projects, size = 10, applicationName = 'recredit' }: PoolOptions = {},
): Pool {
  const pool = new Pool({
    connectionString: withOptions(url, [
      ...(role ? [`-c role=${role}`] : []),
      ...(projects ? [`-c recredit.projects=${projects}`] : []),
    ]),
    max: size,
    application_name: applicationName,
    connectionTimeoutMillis: 30_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // A connection that dies while idle reports on the pool, one that dies while held on the client; unheard, either ends
  // the process. The statement under way, or the next one, fails with the reason, so there is nothing to do here.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  if (projects === '*') platformPools.add(pool);
  return pool;
}

const platformPools = new WeakSet<Pool>();

/** Whether every connection of the pool sees all projects from the start. */
export const isPlatformPool = (pool: Pool): boolean => platformPools.has(pool);

/** The connection string's own options win over the pool's configuration in `pg`, so ours are added to them. */
function withOptions(url: string, options: readonly string[]): string {
  if (options.length === 0) return url;
  const parsed = new URL(url);
  parsed.searchParams.set('options', [parsed.searchParams.get('options') ?? '', ...options].join(' ').trim());
  return parsed.href;
}

/** Runs `work` in one transaction on one connection. Returned means committed; thrown means rolled back. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await transact(client, () => work(client));
  } finally {
    client.release();
  }
}

/** The same on a connection that the caller holds. */
export async function transact<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    await client.query('begin');
    const result = await work();
    const { command } = await client.query('commit');
    // Postgres answers COMMIT of a failed transaction with ROLLBACK and no error
    if (command === 'ROLLBACK') throw new Error('the transaction had failed and was rolled back');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {}); // fails on a dead connection only, which the pool drops
    throw error;
  }
}
