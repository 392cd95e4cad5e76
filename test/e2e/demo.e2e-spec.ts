import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canSeeProcesses, processesOn } from '../support/processes.js';
import { RECREDIT, recreditJson } from '../support/recredit.js';

const ROOT = join(import.meta.dirname, '../..');

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'recredit-e2e-demo-'));
});

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

it('of a fresh home succeeds: the agent learns, and eight estimators are compared with the truth', async () => {
  const environment = { PATH: process.env.PATH, RECREDIT_HOME: home, RECREDIT_PORT: '0' };
  const child = spawn('npm', ['run', '-s', 'demo', '--', '--exit'], {
    cwd: ROOT,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(0);
  // a pipe gets text, and no progress bars
  // oxlint-disable-next-line no-control-regex
  expect(said).not.toMatch(/[\u001b\r]/);
  expect(said).toContain('training step');
  const rows = said.match(/^[a-z-]+ +\d+ % +\d+ % +−?[\d.]+ +−?[\d.]+ to −?[\d.]+ +[\d.]+ +\d+ %$/gm) ?? [];
  expect(rows).toHaveLength(8);
  expect(said).toMatch(/\d+ of the 480 groups carry a signal/);
  if (canSeeProcesses) expect(processesOn(home)).toEqual([]);

  const run = await recreditJson(['run', 'demo', '--embedded'], { RECREDIT_HOME: home });
  const rates = run.successRate.map(({ value }: { value: number }) => value);
  expect(mean(rates.slice(-10)) - mean(rates.slice(0, 5))).toBeGreaterThan(0.3);
  expect(run.progress).toMatchObject({ state: 'COMPLETED', incompleteCount: 0, trajectoryCount: 3840 });
});

it('is advised where its next rollouts would pay', async () => {
  const plan = await recreditJson(['plan', 'demo', '--embedded'], { RECREDIT_HOME: home });
  const sizes = plan.bands.map(({ tasks }: { tasks: readonly object[] }) => tasks.length);
  expect(sizes.reduce((sum: number, size: number) => sum + size, 0)).toBe(32);
  expect(plan.pendingSteps).toBe(0);
  expect(plan.budget.rollouts).toBe(96);
  expect(plan.drop.length).toBeGreaterThan(5);
  expect(plan.restarts[0]).toMatchObject({ trajectory: expect.stringContaining(plan.restarts[0].task) });
});

it('can be stopped on its way, and its next run is a fresh one', async () => {
  const env = { PATH: process.env.PATH, RECREDIT_HOME: home, RECREDIT_PORT: '0' };
  const child = spawn(process.execPath, [RECREDIT, 'demo'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.includes('training   run')) child.kill('SIGINT');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(said).toContain('training   run demo-2');
  expect(code).toBe(130);
  if (canSeeProcesses) expect(processesOn(home)).toEqual([]);
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
