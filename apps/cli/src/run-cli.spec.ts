import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ESTIMATORS } from '#lib/credit';
import { GOLDEN_DIAGNOSTICS } from '#lib/diagnostics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cli } from './cli.js';
import { runCli } from './run-cli.js';

const GOLDEN = join(import.meta.dirname, '../../../test/golden');
const RLOO = join(GOLDEN, 'rloo.json');

let folder: string;
let environment: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-cli-'));
  environment = { RECREDIT_HOME: join(folder, 'home') };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function recredit(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const written = { stdout: '', stderr: '' };
  const cli = new Cli(environment, folder, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { code: await runCli(cli, args), ...written };
}

/** The one JSON document that a command printed, and nothing else. */
async function recreditJson(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await recredit([...args, '--json'], environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const file = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const rollout = (id: string, outcomeReward: number) => ({
  id,
  group: 'g',
  trainingStep: 0,
  outcomeReward,
  turns: [{ state: 's', action: 'a', reward: outcomeReward }],
});

describe('vectors check', () => {
  it('passes every golden file of this version, a line per case with its largest error', async () => {
    const estimators = ESTIMATORS.map(({ id }) => id);
    const diagnostics = GOLDEN_DIAGNOSTICS.flatMap((id) => [id, `diag-${id}`]);
    // What is reconstructed has none.
    const files = [...estimators, ...diagnostics, 'difflib-ratio']
      .map((subject) => join(GOLDEN, `${subject}.json`))
      .filter((path) => existsSync(path));
    const { code, stdout } = await recredit(['vectors', 'check', ...files], environment);
    const cases = files.flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as { cases: unknown[] }).cases);
    expect(code).toBe(0);
    expect(stdout.match(/^ok .*e[+-]\d+/gm)).toHaveLength(cases.length);
    expect(stdout).toMatch(new RegExp(`^${cases.length} cases passed, 0 failed$`, 'm'));
  });

  it('fails where a number is off, and names the place', async () => {
    const vectors = JSON.parse(readFileSync(join(GOLDEN, 'grpo.json'), 'utf8'));
    vectors.cases[0].expected.trajectoryAdvantage[1] += 0.01;
    const { code, stdout } = await recredit(
      ['vectors', 'check', file('off.json', JSON.stringify(vectors))],
      environment,
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAILED .* 1\.0e-2/m);
    expect(stdout).toContain('trajectoryAdvantage[1]: expected');
  });

  it('takes a folder for the files in it', async () => {
    const vectors = join(folder, 'vectors');
    mkdirSync(vectors);
    for (const name of ['rloo.json', 'diag-credit-profile.json']) copyFileSync(join(GOLDEN, name), join(vectors, name));
    const { ok, files } = await recreditJson(['vectors', 'check', vectors], environment);
    expect({ ok, subjects: files.map(({ subject }: { subject: string }) => subject) }).toEqual({
      ok: true,
      subjects: ['credit-profile', 'rloo'],
    });
  });

  it('says which file is about an estimator that there is not, and fails', async () => {
    const unknown = file('unknown.json', JSON.stringify({ estimator: 'astrology', cases: [] }));
    const { code, stdout } = await recredit(['vectors', 'check', join(GOLDEN, 'rloo.json'), unknown], environment);
    expect(code).toBe(1);
    expect(stdout).toContain('unknown.json could not be checked: unknown estimator astrology');
    expect(stdout).toMatch(/passed, 0 failed, 1 file not checked/);
  });
});

describe('estimate', () => {
  const ROLLOUTS = [rollout('a', 1), rollout('b', 0)];
  const EXPECTED = [0.5, -0.5];
  const rloo = (path: string) => ['estimate', path, '--estimator', 'grpo', '--params', '{"normalizeByStd": false}'];

  it.each([
    ['a JSON array', 'array.json', JSON.stringify(ROLLOUTS, null, 2)],
    ['an object with trajectories', 'object.json', JSON.stringify({ trajectories: ROLLOUTS })],
    ['one trajectory per line', 'lines.jsonl', ROLLOUTS.map((each) => JSON.stringify(each)).join('\n')],
    ['gzip', 'lines.jsonl.gz', gzipSync(ROLLOUTS.map((each) => JSON.stringify(each)).join('\n'))],
    ['zstd', 'array.json.zst', zstdCompressSync(JSON.stringify(ROLLOUTS))],
  ])('reads %s', async (_, name, content) => {
    const answer = await recreditJson(rloo(file(name, content)), environment);
    expect(answer).toMatchObject({ kind: 'credit', estimator: 'grpo', trajectoryAdvantage: EXPECTED });
  });

  it('takes a case of a vector file, with its params', async () => {
    const [wanted] = (JSON.parse(readFileSync(join(GOLDEN, 'rloo.json'), 'utf8')) as { cases: any[] }).cases;
    const path = join(GOLDEN, 'rloo.json');
    const answer = await recreditJson(['estimate', path, '--estimator', 'rloo', '--case', wanted.name], environment);
    for (const [i, value] of wanted.expected.trajectoryAdvantage.entries()) {
      expect(answer.trajectoryAdvantage[i]).toBeCloseTo(value, 6);
    }
  });

  it.each([
    ['not JSON in line 2', 'broken.jsonl', `${JSON.stringify(ROLLOUTS[0])}\n{"id": `, 'broken.jsonl:2: not JSON'],
    [
      'a wrong type',
      'type.json',
      JSON.stringify([{ ...ROLLOUTS[0], turns: 7 }]),
      'type.json[0], at /turns: expected array',
    ],
    ['no trajectories', 'other.json', '{"hello": 1}', 'expected'],
    ['nothing', 'empty.json', '', 'empty'],
    ['the same id twice', 'twins.json', JSON.stringify([ROLLOUTS[0], ROLLOUTS[0]]), 'trajectory a is at'],
  ])('refuses %s, with its place, in one line', async (_, name, content, why) => {
    const { code, stdout, stderr } = await recredit(rloo(file(name, content)), environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(why);
  });

  it('says which signal is missing, and where', async () => {
    const path = file('signals.json', JSON.stringify(ROLLOUTS));
    const { code, stdout } = await recredit(['estimate', path, '--estimator', 'gae'], environment);
    expect(code).toBe(1);
    expect(stdout).toContain('says nothing: token.reward is missing');
  });
});

describe('the catalogue', () => {
  it('lists estimators with what they need', async () => {
    const { estimators } = await recreditJson(['estimators'], environment);
    expect(estimators.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(['grpo', 'gigpo', 'hgpo']));
    const gae = await recreditJson(['estimators', 'gae'], environment);
    expect(gae).toMatchObject({ id: 'gae', levels: ['token', 'turn'], citation: { paper: 'arXiv:1506.02438' } });
    expect(gae.params.properties.gamma.default).toBe(1);
  });
});

describe('the command line', () => {
  it.each([
    [[], ''],
    [['frobnicate', 'x'], "unknown command 'frobnicate'"],
    [['import', 'tau-bench', 'x.json'], '--run'],
    [['analyze', '--run', 'x'], '--estimators'],
    [['analyze', '--run', 'x', '--estimators', 'grpo', '--steps', '9..2'], '9 comes after 2'],
    [['analyze', '--run', 'x', '--estimators', 'grpo', '--params', '[1]'], 'JSON object'],
    [['estimate', 'x', '--estimator', 'grpo', '--frobnicate'], '--frobnicate'],
    [['serve', '--workers', 'many'], 'whole number'],
    [['keys', 'create', '--roles', 'emperor'], 'emperor'],
  ])('is used wrongly by %j: status 2', async (args, why) => {
    const { code, stdout, stderr } = await recredit(args, environment);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(why);
  });

  it.each([
    [['runs'], 'no platform answers at http://127.0.0.1:9'],
    [['estimators', 'astrology'], 'no estimator astrology'],
    [['estimators', 'grppo'], 'recredit: no estimator grppo: was grpo meant?\n'],
    [['estimate', RLOO, '--case', 'binary', '--estimator', 'GRPO'], 'recredit: no estimator GRPO: was grpo meant?\n'],
    [
      ['estimate', RLOO, '--case', 'binary', '--estimator', 'grpo', '--params', '{"normaliseByStd": false}'],
      'recredit: grpo has no param normaliseByStd: was normalizeByStd meant?\n',
    ],
    [['import', 'tau-benchh', 'x.json', '--run', 'x'], 'no format is called tau-benchh: was tau-bench meant?'],
    [['import', 'mystery', 'x.json', '--run', 'x'], 'no format is called mystery'],
    [['verify', 'x'], 'there is no database in'],
    [
      [
        'estimate',
        RLOO,
        '--case',
        'binary',
        '--estimator',
        'grpo',
        '--params',
        '{"normalizeByStd": 1, "epsilon": "x"}',
      ],
      'at epsilon',
    ],
    [['shard', '--input', 's3://bucket/x', '--estimators', 'grpo', '--output', 'out'], 's3 is not in this version yet'],
  ])('is refused for %j: status 1, and one line why', async (args, why) => {
    const { code, stdout, stderr } = await recredit(args, { ...environment, RECREDIT_URL: 'http://127.0.0.1:9' });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(why);
  });

  it('says which database does not answer, and never its password', async () => {
    const RECREDIT_DATABASE_URL = 'postgres://me:hunter2@127.0.0.1:9/there';
    const { code, stderr } = await recredit(['verify', 'x'], { ...environment, RECREDIT_DATABASE_URL });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^recredit: the database at 127\.0\.0\.1:9\/there cannot be used: .*ECONNREFUSED/);
    expect(stderr).not.toContain('hunter2');
  });

  it('names a variable that is wrong', async () => {
    const { code, stderr } = await recredit(['runs'], { ...environment, RECREDIT_PORT: 'http' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^recredit: RECREDIT_PORT: "http" is not allowed; allowed: a port/);
  });

  it('helps on standard output, with status 0', async () => {
    for (const args of [['--help'], ['analyze', '--help'], ['vectors', 'check', '--help']]) {
      const { code, stdout, stderr } = await recredit(args, environment);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: recredit/);
    }
  });
});
