import {
  binaryRows,
  isPlatformPool,
  transact,
  type Columns,
  type Parameter,
  type Pool,
  type PoolClient,
} from '#lib/storage';
import type { Projects } from './roles.js';

/** A database in which the rows of some projects are, and no others. */
export interface Confined {
  readonly projects: Projects;
  /** @returns the rows */
  query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
  /** The rows of a SELECT that brings many bytes. */
  binary<Row>(sql: string, params: readonly Parameter[], columns: Columns<Row>): Promise<Row[]>;
  /** All of it or nothing. A returned promise has been committed. */
  transaction<T>(work: (db: Confined) => Promise<T>): Promise<T>;
}

/** What a connection was confined to last. */
const confinement = new WeakMap<PoolClient, string>();

/**
 * The one place where a query is confined to its projects: row-level security reads the setting made here.
 *
 * The setting stays on the connection and is made again only when another one is wanted, so a pool that is confined must
 * not be used bare as well: the platform's own work has a pool of its own.
 */
export function confine(pool: Pool, projects: Projects): Confined {
  if (isPlatformPool(pool)) throw new TypeError('confine: this pool is for the platform, which sees all projects');
  const setting = projects === '*' ? '*' : projects.join(',');

  const borrow = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      if (confinement.get(client) !== setting) {
        await client.query(`select set_config('recredit.projects', $1, false)`, [setting]);
        confinement.set(client, setting);
      }
      return await work(client);
    } finally {
      client.release();
    }
  };

  return {
    projects,
    query: (sql, params = []) => borrow((client) => rowsOf(client, sql, params)),
    binary: (sql, params, columns) => borrow((client) => binaryRows(client, sql, params, columns)),
    transaction: (work) => borrow((client) => transact(client, () => work(inside(client, projects)))),
  };
}

function inside(client: PoolClient, projects: Projects): Confined {
  const db: Confined = {
    projects,
    query: (sql, params = []) => rowsOf(client, sql, params),
    binary: (sql, params, columns) => binaryRows(client, sql, params, columns),
    transaction: (work) => work(db),
  };
  return db;
}

async function rowsOf<Row>(client: PoolClient, sql: string, params: readonly unknown[]): Promise<Row[]> {
  const { rows } = await client.query(sql, [...params]);
  return rows;
}
