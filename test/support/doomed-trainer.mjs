// Logs turns of one trajectory until it is killed, and prints the number of turns that were accepted.
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import * as recredit from '#lib/sdk';

const [url, spool, id] = process.argv.slice(2);
const run = await recredit.startRun({
  project: 'p',
  name: 'r',
  url,
  spool,
  sealAt: { events: 40, bytes: 1e6 },
  sealAfterMs: 1,
  backoff: { baseMs: 1, capMs: 5 },
});
const trajectory = run.trajectory({ id, group: 'g', trainingStep: 0 });
for (let turn = 0; ; turn++) {
  if (!trajectory.turn({ state: 'x'.repeat(turn % 300), action: 'go' }).accepted) throw new Error('not accepted');
  writeSync(1, `${turn + 1}\n`);
  if (turn % 25 === 0) await setImmediate();
}
