import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canSeeProcesses, processesOn } from '../support/processes.js';
import { recredit, RECREDIT, recreditJson } from '../support/recredit.js';
import { until } from '../support/served-platform.js';

const READY_MS = 10_000;

let home: string;
let children: ChildProcess[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'recredit-e2e-start-'));
  children = [];
});

afterEach(async () => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  if (canSeeProcesses) await until('nothing runs on the home', 20_000, () => processesOn(home).length === 0);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

/** `recredit serve`, and what it says. */
async function serve(environment: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, RECREDIT_HOME: home, RECREDIT_PORT: '0', ...environment };
  const child = spawn(process.execPath, [RECREDIT, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  await until('it is ready', 60_000, () => said.includes('Ctrl-C stops it') || child.exitCode !== null);
  const end = async (signal: NodeJS.Signals) => {
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  };
  return { said: () => said, end };
}

it.runIf(canSeeProcesses).each(['SIGINT', 'SIGTERM'] as const)(
  'ends cleanly by %s: nothing is left',
  async (signal) => {
    const platform = await serve();
    expect(processesOn(home).some(({ command }) => command.includes('postgres'))).toBe(true);
    expect(await platform.end(signal)).toBe(0);
    expect(processesOn(home)).toEqual([]);
    expect(existsSync(join(home, 'url'))).toBe(false);
  },
);

it('is ready soon, shows its first key once, and is found by commands on whichever port it took', async () => {
  const first = await serve();
  const [, seconds] = /after ([\d.]+) s/.exec(first.said()) ?? [];
  expect(Number(seconds) * 1000).toBeLessThan(READY_MS);
  const key = readFileSync(join(home, 'first-key'), 'utf8').trim();
  expect(first.said()).toContain(key);
  expect((await recreditJson(['runs'], { RECREDIT_HOME: home })).runs).toEqual([]);
  await first.end('SIGTERM');

  const second = await serve();
  expect(second.said()).not.toContain(key);
  await second.end('SIGTERM');
});

it('starts again after a kill', async () => {
  const killed = await serve();
  const path = join(home, 'one.json');
  writeFileSync(path, JSON.stringify([{ id: 'a', group: 'g', trainingStep: 0, outcomeReward: 1, turns: [{}] }]));
  await recreditJson(['import', 'recredit', path, '--run', 'kept'], { RECREDIT_HOME: home });
  await killed.end('SIGKILL');

  const again = await serve();
  const { runs } = await recreditJson(['runs'], { RECREDIT_HOME: home });
  expect(runs).toMatchObject([{ name: 'kept', progress: { trajectoryCount: 1 } }]);
  expect(await again.end('SIGTERM')).toBe(0);
});

it('says so when its port is taken, and leaves nothing running', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await recredit(['serve'], { RECREDIT_HOME: home, RECREDIT_PORT: String(port) });
  other.close();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^recredit: port ${port} is taken.*RECREDIT_PORT`));
});

it('works for one command, on a platform in the same process', async () => {
  const path = join(home, 'pair.json');
  const rollout = (id: string, outcomeReward: number) => ({
    id,
    group: 'g',
    trainingStep: 0,
    outcomeReward,
    turns: [{}],
  });
  writeFileSync(path, JSON.stringify([rollout('a', 1), rollout('b', 0)]));
  const environment = { RECREDIT_HOME: home };
  await recreditJson(['import', 'recredit', path, '--run', 'pair', '--embedded'], environment);
  const asked = ['analyze', '--run', 'pair', '--estimators', 'grpo', '--embedded'];
  expect(await recreditJson(asked, environment)).toMatchObject({ state: 'completed', groupsWithSignal: 1 });
  expect(await recreditJson(['verify', 'pair'], environment)).toMatchObject({ ok: true });
  if (canSeeProcesses) expect(processesOn(home)).toEqual([]);
});
