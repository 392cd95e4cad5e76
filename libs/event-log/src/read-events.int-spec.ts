import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aRun } from '../../../test/support/rows.js';
import { BatchCache } from './batch-cache.js';
import { aBatch, anEvent, ndjsonOf, saying } from './batch.builder.js';
import { EventLog } from './event-log.js';
import { headOf, headsOf } from './heads.js';
import type { Queryable } from './queryable.js';
import { readEvents } from './read-events.js';
import { readEventsAt } from './read-events-at.js';
import { sealBatch } from './seal.js';

const SIZES = [1, 4, 2, 3]; // of the batches, over and over: 40 batches, 100 events

let db: TestDatabase;
let log: EventLog;
let runId: string;
/** Every statement that was sent through `counting`. */
const statements: string[] = [];
const counting: Queryable = {
  query: (sql, params) => {
    statements.push(sql);
    return db.pool.query(sql, params);
  },
};
beforeAll(async () => {
  db = await testDatabase();
  log = new EventLog(db.pool, { notify: false });
  runId = await aRun(db.ownerPool);
  let first = 0;
  for (let n = 0; n < 40; n++) {
    await log.append(runId, await batchSaying(first, SIZES[n % 4], n));
    first += SIZES[n % 4];
  }
});
afterAll(async () => {
  await log.close();
  await db.drop();
});

/** A batch whose events are named after the positions they will have. */
function batchSaying(first: number, size: number, sequence: number) {
  return sealBatch({ producerId: 'p', epoch: 0, sequence, ndjson: eventsNamed(first, size), eventCount: size });
}

const eventsNamed = (first: number, size: number) => ndjsonOf(upTo(first, first + size).map((i) => anEvent('p', i)));
const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('readEvents', () => {
  it.each(upTo(0, 12))('begins at the position asked for, inside a batch too (%i)', async (position) => {
    const events = await readEvents(db.pool, runId, position, { maxBatches: 3 });
    const { length } = events;
    expect(length).toBeGreaterThan(0);
    expect(events.map((each) => each.position)).toEqual(upTo(position, position + length));
    expect(events.map(({ event }) => saying(event))).toEqual(upTo(position, position + length).map((i) => `p:${i}`));
  });

  it.each([
    { maxBatches: 1 },
    { maxBatches: 7 },
    { maxBytes: 1 },
    { maxBytes: 1000 },
    { maxBatches: 5, maxBytes: 700 },
    {},
  ])('walks the whole run, whatever the page (%o)', async (page) => {
    const seen: number[] = [];
    for (;;) {
      const events = await readEvents(db.pool, runId, seen.length, page);
      if (events.length === 0) break;
      seen.push(...events.map((each) => each.position));
    }
    expect(seen).toEqual(upTo(0, 100));
  });

  it('takes no more batches and bytes than asked for, but always one', async () => {
    const batches = async (page: object) => (await readEvents(db.pool, runId, 0, page)).length;
    expect(await batches({ maxBatches: 2 })).toBe(5);
    expect(await batches({ maxBytes: 1 })).toBe(1);
    const bytesOfTwo = eventsNamed(0, 1).length + eventsNamed(1, 4).length;
    expect(await batches({ maxBytes: bytesOfTwo })).toBe(5);
    expect(await batches({ maxBytes: bytesOfTwo + 1 })).toBe(7);
  });

  it('fetches nothing at the end, and nothing of a run that has nothing', async () => {
    expect(await readEvents(db.pool, runId, 100)).toEqual([]);
    expect(await readEvents(db.pool, runId, 1000)).toEqual([]);
    expect(await readEvents(db.pool, await aRun(db.ownerPool), 0)).toEqual([]);
    const { rows } = await db.ownerPool.query(
      `select count(*)::int as batches from event_batch where run_id = $1 and first_position + event_count > 100`,
      [runId],
    );
    expect(rows).toEqual([{ batches: 0 }]);
  });

  it.each([1, 2, 7, 100])('parses no more than is asked for (%i), wherever it begins', async (maxEvents) => {
    for (const position of [0, 1, 3, 99]) {
      const events = await readEvents(db.pool, runId, position, { maxEvents });
      expect(events.map((each) => each.position)).toEqual(upTo(position, Math.min(100, position + maxEvents)));
    }
  });

  it('says when the database stored an event, whatever its sender says', async () => {
    const [{ receivedAt }] = await readEvents(db.pool, runId, 50, { maxBatches: 1 });
    expect(Math.abs(receivedAt.getTime() - Date.now())).toBeLessThan(60_000);
  });

  it('sends one statement', async () => {
    statements.length = 0;
    await readEvents(counting, runId, 33);
    expect(statements).toHaveLength(1);
  });
});

describe('readEventsAt', () => {
  const named = async (positions: number[], options = {}) => {
    const events = await readEventsAt(counting, runId, positions, options);
    return [...events].map(([position, event]) => [position, saying(event)]);
  };
  const expected = (positions: number[]) => positions.map((i) => [i, `p:${i}`]);

  it.each([
    { positions: [0], found: [0] },
    { positions: [99, 0, 50, 50, 3], found: [0, 3, 50, 99] },
    { positions: upTo(0, 100), found: upTo(0, 100) },
    { positions: [98, 99, 100, 5000], found: [98, 99] },
    { positions: [], found: [] },
    { positions: [-1, 7], found: [7] },
  ])('finds $positions in one statement', async ({ positions, found }) => {
    statements.length = 0;
    expect(await named(positions)).toEqual(expected(found));
    expect(statements.length).toBeLessThanOrEqual(1);
  });

  it.each([1, 500, 5000])(
    'goes on with another statement where one would bring too many bytes (%i)',
    async (maxBytes) => {
      expect(await named([2, 3, 17, 40, 41, 42, 97, 99, 1234], { maxBytes })).toEqual(
        expected([2, 3, 17, 40, 41, 42, 97, 99]),
      );
    },
  );

  it('asks for nothing that the reader has just read', async () => {
    const cache = new BatchCache();
    await readEvents(db.pool, runId, 30, { maxBatches: 10, cache }); // ten batches of 25 events, from 30 on
    statements.length = 0;
    expect(await named([30, 41, 54], { cache })).toEqual(expected([30, 41, 54]));
    expect(statements).toHaveLength(0);
    expect(await named([20, 41, 60], { cache })).toEqual([41, 20, 60].map((i) => [i, `p:${i}`]));
    expect(await named([20, 60], { cache })).toEqual(expected([20, 60]));
    expect(statements).toHaveLength(1);
  });

  it('does not take the events of one run for those of another', async () => {
    const cache = new BatchCache();
    await readEvents(db.pool, runId, 0, { cache });
    const other = await aRun(db.ownerPool);
    await log.append(other, await aBatch('q', 0));
    const events = await readEventsAt(db.pool, other, [0, 1, 2], { cache });
    expect([...events.values()].map(saying)).toEqual(['q:0', 'q:1']);
  });
});

describe('the heads', () => {
  it('count the events of a run', async () => {
    expect(await headOf(db.pool, runId)).toBe(100);
    expect(await headOf(db.pool, 'nowhere')).toBe(0);
  });

  it('are paged by run', async () => {
    const runs = await Promise.all([0, 1, 2, 3].map(() => aRun(db.ownerPool)));
    for (const run of runs) await log.append(run, await aBatch('p', 0));
    const seen: string[] = [];
    for (let page = await headsOf(db.pool, '', 2); page.length > 0; page = await headsOf(db.pool, seen.at(-1), 2)) {
      expect(page.length).toBeLessThanOrEqual(2);
      seen.push(...page.map((head) => head.runId));
    }
    expect(seen).toEqual(seen.toSorted());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining([...runs, runId]));
    expect(await headsOf(db.pool)).toContainEqual({ runId, nextPosition: 100 });
  });
});
