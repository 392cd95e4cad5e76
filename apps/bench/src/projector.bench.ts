import { EventLog, readEvents, sealBatch } from '#lib/event-log';
import { newId } from '#lib/kernel';
import { Projector } from '#lib/projection';
import { openPool, type Pool } from '#lib/storage';
import { withDatabase } from './bench-database.js';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, ndjsonOf, TURNS } from './made-records.js';
import { rateOnce } from './rate.js';
import { turnEvents } from './turn-events.js';

const TRAJECTORIES = 4_096;
const BATCH = 1_000;

/** From the log to read models and segments, one projector. */
export const projector: Benchmark = {
  name: 'projector',
  run: () =>
    withDatabase(async (url) => {
      const pool = openPool(url, { role: 'recredit_app', projects: '*', size: 8 });
      const owner = openPool(url, { size: 1 });
      try {
        const records = madeRecords(TRAJECTORIES, 16);
        const streamed = turnEvents(records);
        const at = new Date(0).toISOString();
        const whole = records.map((record) => ({ ...record, type: 'trajectory.recorded', at }));
        const run = await logged(pool, owner, streamed, BATCH);
        const imported = await logged(pool, owner, whole, BATCH / TURNS);
        return rowsAgainst(
          'turns/s',
          ['reading the events from the log', await rateOnce(TRAJECTORIES * TURNS, () => readAll(pool, run))],
          [
            ['project turns that were streamed', await projected(pool, run)],
            ['project trajectories recorded at once', await projected(pool, imported)],
          ],
        );
      } finally {
        await Promise.all([pool.end(), owner.end()]);
      }
    }),
};

async function projected(pool: Pool, run: string): Promise<number> {
  const projector = new Projector({ pool, store: { put: async () => {} } });
  const turnsPerSecond = await rateOnce(TRAJECTORIES * TURNS, () => projector.projectRun(run));
  await projector.stop();
  return turnsPerSecond;
}

async function logged(pool: Pool, owner: Pool, events: readonly object[], size: number): Promise<string> {
  const [project, run] = [newId(), newId()];
  await owner.query('insert into project (id, name) values ($1, $1)', [project]);
  await owner.query('insert into run (id, project_id, name) values ($1, $2, $1)', [run, project]);
  const log = new EventLog(pool, { notify: false });
  for (let sequence = 0; sequence * size < events.length; sequence++) {
    const batch = events.slice(sequence * size, (sequence + 1) * size);
    const unsealed = { producerId: 'bench', epoch: 0, sequence, ndjson: ndjsonOf(batch), eventCount: batch.length };
    await log.append(run, await sealBatch(unsealed));
  }
  await log.close();
  return run;
}

async function readAll(pool: Pool, run: string): Promise<void> {
  for (let position = 0, count = -1; count !== 0; position += count) {
    count = (await readEvents(pool, run, position)).length;
  }
}
