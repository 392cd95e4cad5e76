import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { headOf, verifyRun } from '#lib/event-log';
import { startRun } from '#lib/sdk';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServedPlatform, until } from '../support/served-platform.js';

/** Workers get 15 s, requests under way 10 s, Postgres what it needs for its last checkpoint. */
const STOPS_WITHIN_MS = 30_000;
const EVENTS = 200;

let platform: ServedPlatform;
beforeEach(async () => void (platform = await ServedPlatform.start()));
afterEach(async () => void (await platform.remove()));

interface Answer {
  readonly sequence: number;
  readonly status: number;
  readonly connection: string | null;
  readonly code: string | undefined;
}

const AT = '2026-01-01T00:00:00Z';

function batch(producer: string, sequence: number): string {
  const event = (i: number) => ({
    type: 'trainingStep.recorded',
    at: AT,
    trainingStep: sequence,
    metrics: { [producer]: i },
  });
  return Array.from({ length: EVENTS }, (_, i) => `${JSON.stringify(event(i))}\n`).join('');
}

/** Writes batch after batch until the platform says no or is gone. @returns its answers */
async function produce(run: string, producer: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let sequence = 0; ; sequence++) {
    const headers = {
      authorization: `Bearer ${platform.key}`,
      'content-type': 'application/x-ndjson',
      'recredit-producer': producer,
      'recredit-epoch': '0',
      'recredit-sequence': String(sequence),
    };
    const body = batch(producer, sequence);
    const response = await fetch(`${platform.url}/v1/runs/${run}/events`, { method: 'POST', headers, body }).catch(
      () => null,
    );
    if (!response) return answers;
    const { code } = (await response.json()) as { code?: string };
    answers.push({ sequence, status: response.status, connection: response.headers.get('connection'), code });
    if (response.status !== 200) return answers;
  }
}

async function createRun(name: string): Promise<string> {
  const headers = { authorization: `Bearer ${platform.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ project: 'default', name });
  const response = await fetch(`${platform.url}/v1/runs`, { method: 'POST', headers, body });
  return ((await response.json()) as { id: string }).id;
}

it('answers what is under way, refuses what is new, ends in time with status 0, and has all that it acknowledged', async () => {
  const run = await createRun('written');
  const pool = platform.pool();
  const before = await headOf(pool, run);
  const writing = Promise.all(['a', 'b', 'c', 'd'].map((producer) => produce(run, producer)));
  await until('producers write', 30_000, async () => (await headOf(pool, run)) > before + 20 * EVENTS);

  const startedAt = performance.now();
  const code = await platform.stop();
  const ms = performance.now() - startedAt;
  const answers = await writing;
  expect(code).toBe(0);
  expect(ms).toBeLessThan(STOPS_WITHIN_MS);

  const acknowledged = answers.map((each) => each.filter(({ status }) => status === 200).length);
  const refused = answers.flatMap((each) => each.filter(({ status }) => status !== 200));
  for (const count of acknowledged) expect(count).toBeGreaterThan(0);
  expect(refused).toHaveLength(4); // each heard it, rather than meeting a closed door
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 503, connection: 'close', code: 'platform.stopping' });
  }

  await platform.start();
  const acknowledgedEvents = acknowledged.reduce((sum, count) => sum + count * EVENTS, 0);
  expect(await headOf(platform.pool(), run)).toBe(before + acknowledgedEvents);
  expect(await verifyRun(platform.pool(), run)).toMatchObject({ broken: null });
});

it('is outlived by an SDK that goes on writing, and by an analysis that is under way: nothing is lost', async () => {
  const spool = mkdtempSync(join(tmpdir(), 'recredit-e2e-spool-'));
  const sdk = await startRun({
    project: 'default',
    name: 'outlives',
    url: platform.url,
    apiKey: platform.key,
    spool,
    sealAfterMs: 20,
    backoff: { baseMs: 50, capMs: 500 },
  });
  const record = async (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      const trajectory = sdk.trajectory({ group: `g${i % 50}`, trainingStep: Math.floor(i / 400) });
      for (let turn = 0; turn < 8; turn++) trajectory.turn({ state: `s${turn}`, action: `a${i % 3}`, reward: i % 2 });
      trajectory.end({ outcomeReward: i % 2 });
      if (i % 20 === 0) await sleep(1);
    }
  };
  await record(0, 4000);
  await sdk.flush({ deadlineMs: 30_000 });
  const run = sdk.report().run ?? '';
  const estimators = ['grpo', 'gigpo', 'hgpo', 'rloo', 'spa'].map((id) => ({ id }));
  const asked = `mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }`;
  const { startAnalysis } = await platform.ask(asked, { input: { runs: [{ run }], estimators } });
  const progress = async () =>
    (await platform.ask(`{ analysis(id: "${startAnalysis.id}") { state progress { total done failed } } }`)).analysis;
  await until('a shard runs', 30_000, async () => (await progress()).progress.total > 0);

  const writing = record(4000, 6000);
  expect(await platform.stop()).toBe(0);
  await platform.start();
  await writing;
  const report = await sdk.end({ deadlineMs: 60_000 });
  expect(report).toMatchObject({ unsent: 0, refused: 0, dropped: 0, backPressure: 0 });
  expect(report.accepted).toBe(report.sent);
  expect(await headOf(platform.pool(), run)).toBe(report.position);
  await until('the analysis is completed', 120_000, async () => (await progress()).state === 'COMPLETED');
  expect((await progress()).progress).toMatchObject({ total: 10, done: 10, failed: 0 });
  rmSync(spool, { recursive: true, force: true });
});
