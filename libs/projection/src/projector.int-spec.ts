import { openSegment } from '#lib/columnar';
import { openPool } from '#lib/storage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aRun } from '../../../test/support/rows.js';
import { appendBusyRun, appendEvents } from './busy-run.builder.js';
import { anEvent } from './events.builder.js';
import { Projector } from './projector.js';
import { everythingOf, memoryStore } from './read-model-rows.builder.js';
import { rebuild } from './rebuild.js';

const SMALL = { turns: 40, bytes: Infinity };

let db: TestDatabase;
const store = memoryStore();
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

const projector = (chunk = {}) => new Projector({ pool: db.pool, store, segmentSize: SMALL, chunk });

async function rowsOf(table: string, runId: string, order: string): Promise<Record<string, unknown>[]> {
  return (await db.pool.query(`select * from ${table} where run_id = $1 order by ${order}`, [runId])).rows;
}

describe('a projected run', () => {
  it('has the same rows and files however its events fell into chunks, and after a rebuild', async () => {
    const runId = await aRun(db.ownerPool);
    await appendBusyRun(db.pool, runId, 'busy');
    await projector({ maxBatches: 64 }).projectRun(runId);
    const once = await everythingOf(db.pool, store, runId);
    expect(once.tables.trajectory.length).toBeGreaterThan(60);
    expect(once.tables.segment.length).toBeGreaterThan(5);
    expect(Object.keys(once.files)).toHaveLength(2 * once.tables.segment.length);

    await store.put(`segments/${runId}/9-stray.arrow`, Uint8Array.of(1));
    for (const chunk of [{ maxBatches: 1 }, { maxBatches: 3 }, { maxBytes: 5_000 }]) {
      await rebuild(db.pool, store, runId, { segmentSize: SMALL, chunk });
      expect(await everythingOf(db.pool, store, runId)).toEqual(once);
    }
  });
});
