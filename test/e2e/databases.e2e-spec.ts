import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRun } from '#lib/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAnalysis, whenEnded } from '../support/analyses.js';
import { hasDebianPostgres, startDebianPostgres } from '../support/debian-postgres.js';
import { expectRebuildEqual, expectTrained, train } from '../support/logged.js';
import { canSeeProcesses } from '../support/processes.js';
import { ServedPlatform } from '../support/served-platform.js';

/** where the embedded Postgres would like to be */
const PORT = 54_320;

let spool: string;

beforeAll(() => {
  spool = mkdtempSync(join(tmpdir(), 'recredit-e2e-spool-'));
});

afterAll(() => rmSync(spool, { recursive: true, force: true }));

async function expectToWork(platform: ServedPlatform): Promise<void> {
  const { url, key: apiKey } = platform;
  const run = await startRun({ project: 'default', name: 'small', url, apiKey, spool, sealAfterMs: 20 });
  await train(run, 0, 96);
  const { run: id } = await run.end();
  const analysis = await whenEnded(platform, await startAnalysis(platform, 'small'));
  expect(analysis).toMatchObject({
    state: 'COMPLETED',
    progress: { total: 3, done: 3, failed: 0 },
    comparison: { trajectories: 96, turns: 96 * 4 },
  });
  await expectTrained(platform, id!, 96);
  await expectRebuildEqual(platform, id!);
}

it.runIf(hasDebianPostgres)("works on Debian's PostgreSQL 15, with nothing embedded beside it", async () => {
  const postgres = await startDebianPostgres();
  const platform = await ServedPlatform.start({ environment: { RECREDIT_DATABASE_URL: postgres.url } });
  try {
    const { rows } = await platform.pool().query('show server_version');
    expect(rows[0].server_version).toMatch(/^15\./);
    expect(platform.postgres()).toBeNull();
    await expectToWork(platform);
  } finally {
    expect(await platform.remove()).toEqual([]);
    await postgres.stop();
  }
});

it.runIf(canSeeProcesses)('takes another port where somebody has its own', async () => {
  const other = await listenOn(PORT);
  const platform = await ServedPlatform.start();
  try {
    expect(platform.postgres()?.port).not.toBe(PORT);
    await expectToWork(platform);
  } finally {
    expect(await platform.remove()).toEqual([]);
    other?.close();
  }
});

/** null: somebody is there already, which is as good */
async function listenOn(port: number): Promise<Server | null> {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => null,
  );
}
