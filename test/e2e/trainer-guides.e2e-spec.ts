import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPackages, PYTHON_CACHE, pythonVersion } from '../support/python.js';
import { RECREDIT } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

const ROOT = join(import.meta.dirname, '../..');
const SDK = join(ROOT, 'libs/sdk-python');
const run = promisify(execFile);
const guideOf = (name: string) => readFileSync(join(ROOT, 'docs/guides', `${name}.md`), 'utf8');
const version = pythonVersion();

/** The code blocks of a guide, or of one of its sections, in order. */
function blocks(guide: string, language: string, section = ''): string[] {
  const text = section === '' ? guide : guide.slice(guide.indexOf(`\n## ${section}\n`)).split(/\n## /)[1];
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, code]) => code);
}

let platform: ServedPlatform;
let folder: string;
let environment: Record<string, string | undefined>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-guides-'));
  platform = await ServedPlatform.start();
  environment = {
    PATH: process.env.PATH,
    PYTHONPATH: SDK,
    ...PYTHON_CACHE,
    RECREDIT_URL: platform.url,
    RECREDIT_API_KEY: platform.key,
    RECREDIT_SPOOL: join(folder, 'spool'),
  };
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  expect(await platform?.remove()).toEqual([]);
});

/** Runs lines as they are typed into a shell in the checkout, where the command is its build. */
async function typed(lines: string): Promise<string> {
  const command = `npm() { shift 4; "${process.execPath}" "${RECREDIT}" "$@"; }`;
  const { stdout } = await run('sh', ['-euc', `${command}\n${lines}`], { cwd: ROOT, env: environment });
  return stdout;
}

const python = (code: string, more: Readonly<Record<string, string>> = {}) =>
  run('python3', ['-c', code], { cwd: folder, env: { ...environment, ...more } });

describe('log from your trainer in five minutes', () => {
  const guide = guideOf('log-from-a-trainer');

  it('TypeScript, and what one sees of it', async () => {
    const [trainer] = blocks(guide, 'ts', 'TypeScript');
    const file = join(ROOT, 'dist', `five-minutes-${process.pid}.mjs`);
    writeFileSync(file, trainer); // where the name of the SDK means its build
    try {
      const { stdout } = await run(process.execPath, [file], { env: environment });
      expect(stdout).toBe('grpo-7b: 148 events are in the log.\n');
    } finally {
      rmSync(file);
    }
    const [lines] = blocks(guide, 'sh', 'Look at it');
    expect(lines.split('\n')[0]).toBe('npm run -s recredit -- runs');
    const said = await typed(lines);
    expect(said).toMatch(/grpo-7b .*completed/);
    expect(said).toMatch(/^rloo +100 %/m);
  });

  it.skipIf(!version)('Python (skipped: no python3 of 3.10 or newer)', async () => {
    const { stdout } = await python(blocks(guide, 'python', 'Python')[0]);
    expect(stdout).toBe('grpo-7b-python: 148 events are in the log.\n');
  });
});

describe.skipIf(!version)('use the credit in training (skipped: no python3 of 3.10 or newer)', () => {
  const guide = guideOf('use-the-credit');

  it('a policy learns by the advantages it asks for, and the audit finds those it logged', async () => {
    const { stdout } = await python(blocks(guide, 'python', 'Ask for advantages in the loop')[0]);
    const [first, last] = [...stdout.matchAll(/step \d+: (\d+)% get out/g)].map(([, share]) => Number(share));
    expect(first).toBeLessThan(60);
    expect(last).toBeGreaterThan(85);
    expect(stdout).toContain('credit-in-the-loop: 511 events are in the log.');
    const audit = await typed(blocks(guide, 'sh', 'Check what was used')[0]);
    expect(audit).toContain('The logged advantages are those of gigpo on all 30 audited training steps.');
    const analysis = await typed(blocks(guide, 'sh', 'See what another estimator would have said')[0]);
    expect(analysis).toMatch(/^ *rloo /m);
  });

  const lacksVerl = version === null || !hasPackages('torch', 'verl', 'cachetools', 'fastapi', 'uvicorn');
  it.skipIf(lacksVerl)('verl takes the estimator by name (skipped: verl is not installed)', async () => {
    writeFileSync(join(folder, 'credit_of_recredit.py'), blocks(guide, 'python', 'In verl')[0]);
    const code = `
import numpy, torch, verl
import verl.trainer.ppo.ray_trainer as trainer
rewards = torch.tensor([[0.0, 1.0], [0.5, 0.0], [0.0, 0.0]])
batch = verl.DataProto.from_dict(
    tensors={"token_level_rewards": rewards, "response_mask": torch.tensor([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])},
    non_tensors={"uid": numpy.array(["u", "u", "u"], dtype=object)},
)
print(trainer.compute_advantage(batch, adv_estimator="recredit").batch["advantages"].tolist())
`;
    const more = { PYTHONPATH: `${folder}:${SDK}`, VERL_USE_EXTERNAL_MODULES: 'credit_of_recredit' };
    const { stdout } = await python(code, more);
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual([
      [0.75, 0.75],
      [0, 0],
      [-0.75, -0.75],
    ]);
  });
});

const lacksTrl = version === null || !hasPackages('torch', 'trl', 'pandas', 'pyarrow');
describe.skipIf(lacksTrl)('TRL (skipped: torch, trl, pandas or pyarrow is not installed for python3)', () => {
  it.each([
    ['log-from-a-trainer', 'grpo-trl'],
    ['trainers', 'grpo-tiny'],
  ])(
    'a run by the example of %s is analysed, read into pandas and audited',
    { timeout: 300_000 },
    async (name, runName) => {
      const example = join(folder, `${name}.py`);
      writeFileSync(example, blocks(guideOf(name), 'python', 'TRL')[0]);
      const trainer = `
import tempfile, warnings
from tests.integrations.tiny_grpo import tiny_trainer
warnings.simplefilter("ignore")
warnings.simplefilter("error", RuntimeWarning)  # what could not be recorded
with tempfile.TemporaryDirectory() as folder:
    exec(open("${example}").read(), {"trainer": tiny_trainer(folder, steps=3)})
`;
      const { stdout } = await python(trainer);
      expect(stdout).toContain(`${runName}: 53 events are in the log.`);

      const read = `
import recredit
analysis = recredit.Client().analyze("${runName}", estimators=[("grpo", {"epsilon": 1e-4})]).wait()
credit = analysis.credit().to_pandas()
turns = recredit.Client().run("${runName}").trajectories().to_pandas()
both = credit.merge(turns, on=["trajectory", "turn", "trainingStep"])
print(len(credit), len(both), (both["grpo"] - both["loggedAdvantage"]).abs().max() < 1e-3, both["grpo"].abs().max() > 0.1)
`;
      expect((await python(read)).stdout).toBe('24 24 True True\n');

      const [audit] = blocks(guideOf('trainers'), 'sh', 'TRL');
      const said = await typed(audit.replace('grpo-tiny', runName));
      expect(said).toContain('The logged advantages are those of grpo on all 3 audited training steps.');
    },
  );
});
