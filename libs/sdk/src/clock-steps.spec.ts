import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakePlatform, type FakePlatform } from '../../../test/support/fake-platform.js';
import { offline, startRun, sync } from './index.js';

const HOUR_MS = 3_600_000;

let platform: FakePlatform;
let spool: string;

beforeEach(async () => {
  platform = await fakePlatform();
  spool = mkdtempSync(join(tmpdir(), 'recredit-clock-'));
  vi.useFakeTimers({ toFake: ['Date'] }); // timers go on, as they do when somebody sets the time
});

afterEach(async () => {
  vi.useRealTimers();
  await platform.close();
  rmSync(spool, { recursive: true, force: true });
});

const stepBack = (ms: number) => vi.setSystemTime(Date.now() - ms);
const options = () => ({ project: 'p', name: 'r', url: platform.url, spool, backoff: { baseMs: 1, capMs: 10 } });

it('sends what it has soon after the clock was set back', async () => {
  const run = await startRun({ ...options(), sealAfterMs: 30 });
  await run.created();
  run.trainingStep(0, { loss: 1 });
  stepBack(HOUR_MS);
  await vi.waitFor(() => expect(platform.events('r')).toHaveLength(1), { timeout: 5_000 });
  await run.close();
});

it('waits no longer than it was told to when the clock is set back meanwhile', async () => {
  platform.faults.push(...Array.from({ length: 1_000 }, () => 'down' as const));
  const run = await startRun(options());
  run.trainingStep(0, { loss: 1 });
  const closed = run.close({ deadlineMs: 200 });
  stepBack(HOUR_MS);
  expect(await closed).toMatchObject({ unsent: 1 });
});

it('delivers the lives of a trainer in their order, though the clock went back between them', async () => {
  for (const step of [7, 8, 9]) {
    const run = await offline(spool).startRun({ project: 'p', name: 'r' });
    run.trainingStep(step);
    await run.close();
    stepBack(HOUR_MS);
  }
  await sync(spool, { url: platform.url });
  expect(platform.events('r')).toMatchObject([{ trainingStep: 7 }, { trainingStep: 8 }, { trainingStep: 9 }]);
});
