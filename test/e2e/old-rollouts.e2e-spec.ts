import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasShared, sharedFile } from '../support/read-import.js';
import { RECREDIT, recreditJson } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/bring-your-old-rollouts.md'), 'utf8');

let platform: ServedPlatform;
let environment: Record<string, string>;

beforeAll(async () => {
  platform = await ServedPlatform.start();
  environment = { RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
});

afterAll(async () => expect(await platform?.remove()).toEqual([]));

/** Runs a line as it is typed into a shell in the checkout. */
async function typed(line: string): Promise<string> {
  const shell = `recredit() { "${process.execPath}" "${RECREDIT}" "$@"; }; ${line}`;
  const env = { PATH: process.env.PATH, ...environment };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', shell], { cwd: ROOT, env });
  expect(stderr).toBe('');
  return stdout;
}

it('the commands of the guide do what it says, as they stand there', async () => {
  const lines = [...GUIDE.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block]) => block.trim().split('\n'));
  const said: string[] = [];
  for (const line of lines) {
    const analysis = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(said.join('\n'))?.[0];
    said.push(await typed(line.replace('ANALYSIS', analysis ?? 'none')));
  }
  const [dryRun, verl, labelled, inTurns, policies, , comparison] = said;
  expect(dryRun).toContain('verl, because its first line has input, output, score and step');
  expect(dryRun).toMatch(/groups +2, 1 of them with different outcomes/);
  expect(dryRun).toContain('A dry run: nothing was stored.');
  expect(verl).toContain('old-verl: 4 trajectories in 2 groups, 4 turns; 4 events added');
  expect(labelled).toContain('labelled: 3 trajectories in 2 groups, 6 turns, 6 annotations; 9 events added');
  expect(labelled).toContain('3 records skipped:');
  expect(inTurns).toContain('verl-in-turns: 4 trajectories in 2 groups, 5 turns');
  expect(policies).toContain('two-policies: 3 trajectories in 2 groups');
  expect(comparison).toContain('agreement with humanLabel');
  expect(await recreditJson(['runs'], environment)).toMatchObject({ runs: { length: 4 } });
});

const skippedBecause =
  'the labelled rollouts of AgentProcessBench (skipped where ../shared/data/agentprocessbench is absent)';

describe.skipIf(!hasShared('agentprocessbench'))(skippedBecause, () => {
  it('show that grpo tells good turns from bad ones with AUC 0.705, and none within a trajectory', async () => {
    const imported = await recreditJson(
      ['import', 'auto', sharedFile('agentprocessbench'), '--run', 'labelled-hotpotqa'],
      environment,
    );
    expect(imported).toMatchObject({ trajectories: 250, groups: 50, turns: 734, annotations: 2_000, newEvents: 2_250 });
    const asked = ['analyze', '--run', 'labelled-hotpotqa', '--estimators', 'grpo', '--wait'];
    const { analysis } = await recreditJson(asked, environment);
    const { truths } = await recreditJson(['compare', analysis], environment);
    const human = truths.find(({ signal }: { signal: string }) => signal === 'humanLabel');
    expect(human).toMatchObject({ estimator: 'grpo', n: 734, positive: 499, negative: 179 });
    expect(human.auc.toFixed(3)).toBe('0.705');
    expect(human.aucMixedGroups.toFixed(3)).toBe('0.737');
    expect(human.withinTrajectoryPairAccuracy).toBe(0.5);
  });
});
