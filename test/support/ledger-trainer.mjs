// A trainer as a process of its own that keeps a ledger beside the SDK: each event that the SDK took, and each batch
// whose answer of 200 reached this process, seen at `fetch`. It records until SIGTERM and prints its report as JSON.
// Its argument: {options, prefix, ledger, seed, pauseMs}.
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { seededRandom } from '#lib/numeric';
import { startRun } from '#lib/sdk';

const { options, prefix, ledger, seed, pauseMs } = JSON.parse(process.argv[2]);
const file = openSync(ledger, 'a');

function idOf({ type, trajectory, turn, trainingStep, metrics }) {
  if (type === 'turn.recorded') return `${trajectory}/${turn}`;
  if (type === 'trajectory.ended') return `${trajectory}/end`;
  return `${Object.keys(metrics)[0]}@${trainingStep}`;
}

const realFetch = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  const response = await realFetch(url, init);
  const text = await response.text();
  const [, runId] = /\/v1\/runs\/(.+)\/events$/.exec(url) ?? [];
  if (response.ok && runId) {
    const lines = zstdDecompressSync(init.body).toString().split('\n').filter(Boolean);
    const entries = lines.map((line) => {
      const sha256 = createHash('sha256').update(line).digest('hex');
      return `${idOf(JSON.parse(line))}|${sha256}`;
    });
    const { firstPosition, duplicate } = JSON.parse(text);
    writeSync(file, `acknowledged ${runId} ${firstPosition} ${entries.join(' ')}\n${duplicate ? 'again\n' : ''}`);
  }
  return new Response(text, { status: response.status, headers: response.headers });
};

const random = seededRandom(seed);
const run = await startRun(options);
const take = (id, { accepted, reason }) => writeSync(file, accepted ? `recorded ${id}\n` : `refused ${reason}\n`);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

for (let i = 0; !stop.signal.aborted; i++) {
  const trainingStep = Math.floor(i / 64);
  const id = `${prefix}-${i}`;
  const trajectory = run.trajectory({ id, group: `${prefix}-task-${Math.floor(i / 8) % 8}`, trainingStep });
  const won = random.integer(3) === 0;
  const turns = 3 + random.integer(3);
  for (let turn = 0; turn < turns; turn++) {
    const receipt = trajectory.turn({
      state: `room ${random.integer(6)} of ${prefix}`,
      action: `go ${random.integer(4)}`,
      reward: won && turn === turns - 1 ? 1 : 0,
      signals: { valueEstimate: random.next(), exactAdvantage: (won ? 0.5 : -0.5) + turn / 10 },
    });
    take(`${id}/${turn}`, receipt);
  }
  take(`${id}/end`, trajectory.end({ outcomeReward: won ? 1 : 0, success: won }));
  if (i % 64 === 63) take(`${prefix}@${trainingStep}`, run.trainingStep(trainingStep, { [prefix]: random.next() }));
  await sleep(pauseMs * 2 * random.next());
}
const report = await run.close({ deadlineMs: 120_000 });
writeSync(1, JSON.stringify(report));
process.exit(0);
