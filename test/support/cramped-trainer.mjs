// Records offline where a file takes 20 KiB and no more. Prints how many events were accepted, and whether an event
// that fits was accepted after one that did not.
import * as recredit from '#lib/sdk';

const run = await recredit.offline(process.argv[2]).startRun({ project: 'p', name: 'r' });
const record = (toTrainingStep, length) =>
  run.append({ type: 'run.rewound', toTrainingStep, note: 'x'.repeat(length) });
let accepted = 0;
let step = 0;
while (record(step++, 3_000).accepted) accepted++;
const fitted = record(step, 100).accepted;
await run.close();
process.stdout.write(JSON.stringify({ accepted: accepted + Number(fitted), fitted }));
