// A trainer as a process of its own, for test/faults: records trajectories of four turns and prints, after each, how many
// events the SDK has taken. Its argument: {options, prefix, count}.
import { writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { startRun } from '#lib/sdk';

const { options, prefix, count } = JSON.parse(process.argv[2]);
const run = await startRun(options);
let taken = 0;
const take = ({ accepted, detail }) => {
  if (!accepted) throw new Error(detail);
  taken++;
};
for (let i = 0; i < count; i++) {
  const trajectory = run.trajectory({ id: `${prefix}${i}`, group: `${prefix}-task`, trainingStep: 0 });
  for (let turn = 0; turn < 4; turn++) take(trajectory.turn({ state: `room ${turn}`, action: 'go', reward: 0 }));
  take(trajectory.end({ outcomeReward: i % 2 }));
  writeSync(1, `${taken}\n`);
  await setImmediate();
}
const { unsent, refused, dropped } = await run.close({ deadlineMs: 60_000 });
process.exit(unsent + refused + dropped === 0 ? 0 : 1);
