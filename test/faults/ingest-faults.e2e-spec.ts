import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRun, sync, type RunOptions } from '#lib/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventsOf, expectRebuildEqual, expectTrained, train, TURNS } from '../support/logged.js';
import { canSeeProcesses } from '../support/processes.js';
import { ServedPlatform, until } from '../support/served-platform.js';

const TRAINER = join(import.meta.dirname, '../support/trainer.mjs');
const PATIENT = { deadlineMs: 60_000 };
const ALL_SENT = { unsent: 0, refused: 0, dropped: 0, backPressure: 0, problem: null };

describe.runIf(canSeeProcesses)('while things break, a trainer', () => {
  let platform: ServedPlatform;
  let spool: string;

  beforeAll(async () => {
    platform = await ServedPlatform.start();
  });

  afterAll(async () => {
    expect(await platform?.remove()).toEqual([]);
  });

  beforeEach(() => {
    spool = mkdtempSync(join(tmpdir(), 'recredit-e2e-spool-'));
    return () => rmSync(spool, { recursive: true, force: true });
  });

  const options = (name: string): RunOptions => ({
    project: 'default',
    name,
    url: platform.url,
    apiKey: platform.key,
    spool,
    sealAt: { events: 60, bytes: 1e6 },
    sealAfterMs: 20,
    backoff: { baseMs: 20, capMs: 500 },
  });

  function trainer(name: string, prefix: string, count: number): ChildProcess {
    const argument = JSON.stringify({ options: options(name), prefix, count });
    return spawn(process.execPath, [TRAINER, argument], { stdio: ['ignore', 'ignore', 'inherit'] });
  }

  it('may start before the platform does', async () => {
    await platform.stop();
    const run = await startRun(options('early'));
    await train(run, 0, 100);
    await until('it has been refused', 10_000, () => run.report().problem !== null);
    expect(run.report()).toMatchObject({ run: null, sent: 0, problem: { code: 'no.answer' } });
    await platform.start();
    const report = await run.end(PATIENT);

    expect(report).toMatchObject(ALL_SENT);
    await expectTrained(platform, report.run!, 100);
  });

  it('finds a platform whose Postgres died again and again while its workers started', async () => {
    await platform.stop();
    const run = await startRun(options('starting'));
    await train(run, 0, 100);
    const started = platform.start();
    await until('a worker starts', 30_000, () => platform.workers().length > 0);
    for (let times = 0, killed = 0; times < 3; times++) {
      await until('Postgres comes back', 20_000, () => ![null, killed].includes(platform.postgres()?.pid ?? null));
      killed = platform.postgres()!.pid;
      process.kill(killed, 'SIGKILL');
    }
    await started;
    const report = await run.end(PATIENT);

    expect(report).toMatchObject(ALL_SENT);
    await expectTrained(platform, report.run!, 100);
    await expectRebuildEqual(platform, report.run!);
  });

  it('keeps what a revoked key cannot send, for another key', async () => {
    const { createApiKey } = await platform.ask(
      `mutation { createApiKey(input: { name: "trainer", project: "default", roles: [INGEST] }) { text key { id } } }`,
    );
    const run = await startRun({ ...options('revoked'), apiKey: createApiKey.text });
    await train(run, 0, 50);
    await run.flush(PATIENT);
    await platform.ask(`mutation ($id: ID!) { revokeApiKey(id: $id) { revokedAt } }`, { id: createApiKey.key.id });
    await train(run, 50, 100);
    const refused = await run.close(PATIENT);
    const synced = await sync(spool, { url: platform.url, apiKey: platform.key });

    expect(refused.problem).toMatchObject({ status: 401, code: 'key.invalid' });
    expect(refused.unsent).toBeGreaterThanOrEqual(50 * TURNS);
    expect(synced).toMatchObject({ unsent: 0, refused: 0, sent: refused.unsent });
    await expectTrained(platform, refused.run!, 100);
    expect(readdirSync(spool)).toEqual([]);
  });

  it('sets aside what the platform refuses for its content, with the reason, and sends the rest', async () => {
    const run = await startRun({ ...options('spoilt'), offline: true });
    await train(run, 0, 30);
    const { spool: dir, accepted } = await run.close();
    const [first, second] = readdirSync(dir).filter((name) => name.endsWith('.ndjson'));
    const spoilt = join(dir, second);
    writeFileSync(spoilt, readFileSync(spoilt, 'utf8').replace('"reward":0', '"reward":"none"'));
    const synced = await sync(spool, { url: platform.url, apiKey: platform.key });
    const again = await sync(spool, { url: platform.url, apiKey: platform.key });

    expect(first).toBe('00000000.ndjson');
    expect(synced).toMatchObject({ unsent: 0, refused: 60, sent: accepted - 60 });
    const [{ problem, run: id }] = synced.producers;
    expect(problem).toMatchObject({ status: 422, details: { issues: [{ pointer: '/reward' }] } });
    expect(again).toMatchObject({ unsent: 0, refused: 60, sent: 0 });
    expect(await eventsOf(platform, id!)).toHaveLength(1 + accepted - 60);
    const seen = `query ($id: ID!) { run(id: $id) { progress { turnCount } } }`;
    await until('what came is projected', 20_000, async () => {
      const { run: shown } = await platform.ask(seen, { id });
      return shown.progress.turnCount === 30 * TURNS - 60 * (TURNS / (TURNS + 1));
    });
  });

  it('shares a run with another process', async () => {
    const two = [trainer('shared', 'a', 120), trainer('shared', 'b', 120)];
    const codes = await Promise.all(two.map(async (child) => (await once(child, 'close'))[0]));
    const { run } = await platform.ask(`{ run(id: "shared") { id } }`);

    expect(codes).toEqual([0, 0]);
    await expectTrained(platform, run.id, 120, 'a');
    await expectTrained(platform, run.id, 120, 'b');
    expect(await eventsOf(platform, run.id)).toHaveLength(1 + 2 * 120 * (TURNS + 1));
    await expectRebuildEqual(platform, run.id);
  });
});
