import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRun } from '#lib/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { progressOf, resultsOn, startAnalysis, whenEnded } from '../support/analyses.js';
import { expectRebuildEqual } from '../support/logged.js';
import { canSeeProcesses } from '../support/processes.js';
import { ServedPlatform, until } from '../support/served-platform.js';

const STEPS = 40;
const ESTIMATORS = 8;

describe.runIf(canSeeProcesses)('an analysis', () => {
  let undisturbed: ServedPlatform;
  let disturbed: ServedPlatform;
  let run: string;

  beforeAll(async () => {
    undisturbed = await ServedPlatform.start();
    run = await recordLongRun(undisturbed);
    await undisturbed.stop();
    disturbed = await undisturbed.copy();
  });

  afterAll(async () => {
    expect([await undisturbed?.remove(), await disturbed?.remove()]).toEqual([[], []]);
  });

  it('is the same when a worker is killed in the middle of it: nothing lost, nothing doubled', async () => {
    await undisturbed.start({ workers: 2 });
    const expected = await whenEnded(undisturbed, await startAnalysis(undisturbed, run));
    const { results, files } = await resultsOn(undisturbed);
    await undisturbed.stop();

    await disturbed.start({ workers: 2 });
    const id = await startAnalysis(disturbed, run);
    await until('some shards are done', 60_000, async () => (await progressOf(disturbed, id)).done >= 4);
    const [victim] = disturbed.workers();
    process.kill(victim, 'SIGKILL');
    expect((await progressOf(disturbed, id)).done).toBeLessThan(STEPS);
    const analysis = await whenEnded(disturbed, id);

    expect(expected).toMatchObject({ state: 'COMPLETED', progress: { total: STEPS, done: STEPS, failed: 0 } });
    expect(analysis).toEqual(expected);
    expect(results).toHaveLength(STEPS * ESTIMATORS);
    expect(files).toHaveLength(results.filter((result) => result.startsWith('credit ')).length);
    expect(await resultsOn(disturbed)).toEqual({ results, files });
    const { rows } = await disturbed.pool().query('select max(tries) as tries from analysis_shard');
    expect(rows).toEqual([{ tries: 2 }]);
    expect(disturbed.workers()).toHaveLength(2);
    expect(disturbed.workers()).not.toContain(victim);
    await expectRebuildEqual(disturbed, run);
  });
});

/** Shards that take long enough to be killed in. @returns the run's id */
async function recordLongRun({ url, key }: ServedPlatform): Promise<string> {
  const spool = mkdtempSync(join(tmpdir(), 'recredit-e2e-spool-'));
  const run = await startRun({ project: 'default', name: 'long', url, apiKey: key, spool });
  for (let i = 0; i < STEPS * 64; i++) {
    const won = (i * 7) % 11 < 5 ? 1 : 0;
    run.record({
      id: `t${i}`,
      group: `task-${Math.floor(i / 8) % 8}`,
      trainingStep: Math.floor(i / 64),
      outcomeReward: won,
      success: won === 1,
      turns: Array.from({ length: 12 }, (_, turn) => ({
        state: `room ${(i * 3 + turn) % 9}`,
        action: `go ${(i + turn) % 4}`,
        reward: turn === 11 ? won : 0,
        signals: { valueEstimate: ((i + turn) % 10) / 10, exactAdvantage: won - 0.5 + turn / 50 },
        tokens: { logprob: [-0.5, -0.25], reward: [0, turn === 11 ? won : 0], value: [0.5, won / 2] },
      })),
    });
  }
  const report = await run.end({ deadlineMs: 60_000 });
  rmSync(spool, { recursive: true });
  expect(report).toMatchObject({ unsent: 0, refused: 0, dropped: 0 });
  return report.run!;
}
