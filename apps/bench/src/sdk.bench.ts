import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { offline } from '#lib/sdk';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, ndjsonOf } from './made-records.js';
import { rate } from './rate.js';
import { turnEvents } from './turn-events.js';

/** What a turn costs a training loop: checked, encoded, and on its way to disk when the call returns. */
export const sdk: Benchmark = {
  name: 'sdk',
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'recredit-bench-'));
    try {
      const run = await offline(dir).startRun({ project: 'bench', name: 'bench', maxSpoolBytes: 8 * 1024 ** 3 });
      const turns = madeRecords(64).flatMap((record) => record.turns);
      const record = () => {
        const trajectory = run.trajectory({ group: 'task', trainingStep: 0 });
        for (const turn of turns) trajectory.turn(turn);
      };
      const stringify = () => turns.map((turn) => JSON.stringify(turn).length);
      const events = turnEvents(madeRecords(120));
      const sent = (await promisify(zstdCompress)(ndjsonOf(events))).length / events.length;
      const rows = [
        ...rowsAgainst(
          'ns/turn',
          ['JSON.stringify of the turn', 1e9 / (await rate(turns.length, stringify))],
          [['turn() of the SDK, to its spool', 1e9 / (await rate(turns.length, record))]],
        ),
        ...rowsAgainst(
          'B/event',
          ['the event as NDJSON', ndjsonOf(events).length / events.length],
          [[`sent in batches of ${events.length}`, sent]],
        ),
      ];
      await run.close();
      return rows;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
