export { binaryRows, type Columns, type Parameter } from './binary-rows.js';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { FileMemory, type LentMemory } from './file-memory.js';
export { listenTo, type Listening } from './listen-to.js';
export { migrationsBetween, runMigrations, type Migration } from './migrate.js';
export { openSegmentStore } from './open-segment-store.js';
export {
  inTransaction,
  isPlatformPool,
  openPool,
  transact,
  type Pool,
  type PoolClient,
  type PoolOptions,
  type Queryable,
} from './pool.js';
export { runningPostgres } from './running-postgres.js';
export type { SegmentStore } from './segment-store.js';
