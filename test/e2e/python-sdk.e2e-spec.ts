import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkBatch } from '#lib/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as sdk from '#lib/sdk';
import { PYTHON_CACHE, pythonVersion } from '../support/python.js';
import { recreditJson } from '../support/recredit.js';
import { ServedPlatform, until } from '../support/served-platform.js';

const PACKAGE = join(import.meta.dirname, '../../libs/sdk-python');
const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/python.md'), 'utf8');
const version = pythonVersion();
const title = version
  ? `the Python SDK (python3 is ${version})`
  : 'the Python SDK (skipped: no python3 of 3.10 or newer)';

describe.skipIf(!version)(title, () => {
  let platform: ServedPlatform;
  let folder: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'recredit-python-'));
    platform = await ServedPlatform.start();
    environment = { RECREDIT_URL: platform.url, RECREDIT_API_KEY: platform.key, RECREDIT_SPOOL: join(folder, 'spool') };
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    expect(await platform?.remove()).toEqual([]);
  });

  /** Runs Python with the package at hand; a status other than 0 throws with what was written. */
  async function python(args: readonly string[], more: Readonly<Record<string, string>> = {}, cwd = folder) {
    const env = { PATH: process.env.PATH, PYTHONPATH: PACKAGE, ...PYTHON_CACHE, ...environment, ...more };
    return promisify(execFile)('python3', [...args], { cwd, env });
  }

  const turnsOf = async (run: string, trajectory: string) => {
    const query = `query ($run: ID!, $id: ID!) { trajectory(run: $run, id: $id) { state turnCount turns(first: 500) { edges { node { index action } } } } }`;
    return (await platform.ask(query, { run, id: trajectory })).trajectory;
  };

  it('passes its own tests against this platform', async () => {
    const test = { RECREDIT_TEST_URL: platform.url, RECREDIT_TEST_KEY: platform.key, RECREDIT_SPOOL: '' };
    const { stderr } = await python(['-X', 'dev', '-m', 'unittest', '-v'], test, PACKAGE);
    const skipped = [...stderr.matchAll(/^(\S+) .*skipped (.+)$/gm)].map(([, name, why]) => `${name}: ${why}`);
    expect(stderr).toMatch(/^OK/m);
    expect(stderr.match(/ ok$/gm)?.length).toBeGreaterThan(30);
    expect(stderr).toMatch(/test_the_audit_finds_the_logged_advantages_right .*ok$/m);
    if (skipped.length > 0) console.log(`tests of the Python SDK that are skipped here:\n${skipped.join('\n')}`);
  });

  it('writes no line that the platform would refuse, whatever an event holds', async () => {
    const count = 20_000;
    const env = { PATH: process.env.PATH, ...PYTHON_CACHE };
    const seed = String(Math.floor(Math.random() * 2 ** 31));
    const options = { cwd: PACKAGE, env, maxBuffer: 2 ** 30, encoding: 'buffer' } as const;
    const { stdout } = await promisify(execFile)('python3', ['-m', 'tests.odd_events', seed, String(count)], options);
    const lines = stdout.toString('utf8').split('\n').slice(0, -1);
    expect(lines.length).toBeGreaterThan(count / 4);
    const refused = lines.flatMap((line) => {
      try {
        checkBatch(Buffer.from(line));
        // and it is what JavaScript would have written, so that both SDKs' bytes are equal
        return JSON.stringify(JSON.parse(line)) === line ? [] : [`another spelling: ${line}`];
      } catch (error) {
        return [`${(error as Error).message}: ${line}`];
      }
    });
    expect(refused.slice(0, 5), `seed ${seed}`).toEqual([]);
  });

  it('the guide runs as it is written', async () => {
    const blocks = [...GUIDE.matchAll(/^```(python|sh)\n([^]*?)^```/gm)].map(([, language, text]) => ({
      language,
      text,
    }));
    const said: string[] = [];
    for (const { language, text } of blocks) {
      if (text.startsWith('pip install')) continue; // CI reaches no package index
      const needs = /to_pandas/.test(text) ? ['-c', 'import pandas, pyarrow'] : ['-c', ''];
      if (!(await python(needs).catch(() => null))) {
        console.log('pandas is not installed: the block of the guide that uses it is not run');
        continue;
      }
      const args = language === 'python' ? ['-c', text] : text.trim().split(' ').slice(1);
      said.push((await python(args)).stdout);
    }
    expect(said[0]).toBe('grpo-py: 172 events are in the log.\n');
    expect(said[2]).toContain('2 events sent, 0 unsent, 0 refused');
    expect(said[3]).toBe('120 turns\n');
    expect(said.at(-1)).toBe('[0.5, -0.5] [[0.5, 0.5], [-0.5]]\n');
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['credit.arrow', 'trajectories.arrow']));
  });

  it('what a killed trainer recorded is delivered by the command, each turn once', async () => {
    const spool = join(folder, 'killed');
    const trainer = `
import recredit, sys
run = recredit.start_run(project="python", name="killed", spool=sys.argv[1], seal_after=0.01)
trajectory = run.trajectory(group="g", training_step=0, id="t")
for turn in range(10**9):
    if trajectory.turn("x" * (turn % 300), f"go {turn}"):
        print(turn + 1, flush=True)
`;
    const env = { PATH: process.env.PATH, PYTHONPATH: PACKAGE, ...PYTHON_CACHE, ...environment };
    const child = spawn('python3', ['-c', trainer, spool], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until('a few turns are recorded', 30_000, () => output.split('\n').length > 300);
    const held = await recreditJson(['sync', spool], environment);
    expect(held).toMatchObject({ sent: 0, producers: [{ name: 'killed', held: true }] });
    child.kill('SIGKILL');
    await once(child, 'close');
    const recorded = Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1));

    await recreditJson(['sync', spool], environment);
    expect(readdirSync(spool)).toEqual([]);
    await until('all of it is projected', 60_000, async () => {
      const { turnCount } = (await turnsOf('killed', 't')) ?? { turnCount: 0 };
      return turnCount >= recorded;
    });
    const { turnCount, turns } = await turnsOf('killed', 't');
    // one more: recorded, and killed before it could say so
    expect(turnCount - recorded).toBeOneOf([0, 1]);
    const first = turns.edges.map(
      ({ node }: { node: { index: number; action: string } }) => `${node.index} ${node.action}`,
    );
    expect(first).toEqual(first.map((_: string, index: number) => `${index} go ${index}`));
  });

  it('delivers what the TypeScript SDK left in a spool', async () => {
    const spool = join(folder, 'typescript');
    const run = await sdk.offline(spool).startRun({ project: 'python', name: 'from-typescript' });
    const trajectory = run.trajectory({ id: 't', group: 'g', trainingStep: 0 });
    for (let turn = 0; turn < 3; turn++) trajectory.turn({ action: `go ${turn}` });
    trajectory.end({ outcomeReward: 1 });
    await run.end();
    const { stdout } = await python(['-m', 'recredit', 'sync', spool]);
    expect(stdout).toBe('python/from-typescript: 5 sent, 0 unsent, 0 refused\n5 events sent, 0 unsent, 0 refused\n');
    await until('it is projected', 60_000, async () => (await turnsOf('from-typescript', 't'))?.state === 'FINISHED');
    expect(readdirSync(spool)).toEqual([]);
  });
});
