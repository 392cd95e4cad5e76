import { EventLog, sealBatch } from '#lib/event-log';
import { newId } from '#lib/kernel';
import { Projector } from '#lib/projection';
import { openPool } from '#lib/storage';
import { withDatabase } from './bench-database.js';
import type { Grown, GrowthKind } from './growth.bench.js';
import { madeRecords, ndjsonOf, TURNS } from './made-records.js';
import { computed } from './recompute.bench.js';
import { withShards } from './stored-shards.js';
import { turnEvents } from './turn-events.js';

/** One size of growth.bench.ts: <what> <turns>. Nothing but what is measured may take memory that grows with the size. */
const [kind, turns] = [process.argv[2] as GrowthKind, Number(process.argv[3])];
const BATCH = 64; // trajectories

const seconds = kind === 'recompute' ? await recomputed() : await logged();
process.send?.({ seconds, peakMiB: process.resourceUsage().maxRSS / 1024 } satisfies Grown);
process.disconnect();

function recomputed(): Promise<number> {
  return withShards(turns, async (shards) => shards.turns / (await computed(shards, 'gigpo', 1)));
}

/** Appends the turns of trajectories as they are streamed, projects them, and rebuilds the run. @returns the seconds of one of these */
function logged(): Promise<number> {
  return withDatabase(async (url) => {
    const owner = openPool(url, { size: 1 });
    const pool = openPool(url, { role: 'recredit_app', projects: '*', size: 8 });
    const log = new EventLog(pool, { notify: false });
    try {
      const [project, run] = [newId(), newId()];
      await owner.query('insert into project (id, name) values ($1, $1)', [project]);
      await owner.query('insert into run (id, project_id, name) values ($1, $2, $1)', [run, project]);
      const records = madeRecords(BATCH);
      let appending = 0;
      const batches = Math.ceil(turns / TURNS / BATCH);
      for (let sequence = 0; sequence < batches; sequence++) {
        // a training step has 20 batches; groups stay inside a batch
        const place = { trainingStep: Math.floor(sequence / 20) };
        const renamed = records.map((record) => ({
          ...record,
          ...place,
          id: `${sequence}-${record.id}`,
          group: `${sequence}-${record.group}`,
        }));
        const events = turnEvents(renamed);
        const ndjson = ndjsonOf(events);
        const started = performance.now();
        await log.append(
          run,
          await sealBatch({ producerId: 'bench', epoch: 0, sequence, ndjson, eventCount: events.length }),
        );
        appending += performance.now() - started;
      }
      if (kind === 'ingest') return appending / 1000;
      const projector = new Projector({ pool, store: { put: async () => {} } });
      try {
        const projecting = await timed(() => projector.projectRun(run));
        return kind === 'project' ? projecting : await timed(() => projector.rebuildRun(run));
      } finally {
        await projector.stop();
      }
    } finally {
      await log.close();
      await Promise.all([pool.end(), owner.end()]);
    }
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
