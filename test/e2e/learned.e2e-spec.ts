import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEARNED_ESTIMATORS } from '#lib/credit-learned';
import { pearson } from '#lib/numeric';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lampRollouts } from '../../libs/credit-learned/src/learned.fixture.js';
import { recredit, recreditJson } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

/** Debian's chromium brings a Vulkan loader, and a driver that computes on the processor. */
const CHROMIUM = '/usr/lib/chromium';
const DRIVER = join(CHROMIUM, 'vk_swiftshader_icd.json');
const absent = [DRIVER, join(CHROMIUM, 'libvulkan.so.1'), 'node_modules/webgpu/index.js'].filter((f) => !existsSync(f));

let folder: string;
let rollouts: string;
/** All that is learned from in one batch: what is rounding there has to move nothing. */
const few = JSON.stringify({ epochs: 2, hiddenUnits: 4, batchSize: 4096 });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-e2e-learned-'));
  rollouts = join(folder, 'lamps.jsonl');
  const steps = [0, 1].flatMap((trainingStep) =>
    lampRollouts({ groups: 5, perGroup: 8, seed: `step ${trainingStep}` }).map((record) => ({
      ...record,
      id: `${trainingStep}-${record.id}`,
      trainingStep,
    })),
  );
  writeFileSync(rollouts, steps.map((record) => JSON.stringify(record)).join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('estimators that learn, beside others', () => {
  let platform: ServedPlatform;
  let environment: Record<string, string>;
  const json = (...args: string[]) => recreditJson(args, environment);

  beforeAll(async () => {
    platform = await ServedPlatform.start({ environment: { RECREDIT_DEVICE: 'wasm' } });
    environment = { RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
    await json('import', 'recredit', rollouts, '--run', 'lamps');
    return async () => expect(await platform.remove()).toEqual([]);
  });

  it('answer in one analysis from the command line, on wasm, and the shards say so', async () => {
    const ids = ['grpo', 'spa-learned', 'learned-progress'];
    const analysis = await json('analyze', '--run', 'lamps', '--estimators', ids.join(), '--wait');
    expect(analysis).toMatchObject({ state: 'completed', shards: { total: 2, done: 2, failed: 0 } });
    const comparison = await json('compare', analysis.analysis);
    expect(comparison.estimators.map(({ id }: { id: string }) => id).sort()).toEqual(ids.toSorted());
    const { analysis: shown, devices } = await platform.ask(
      `{ analysis(id: "${analysis.analysis}") { shards { edges { node { state device seconds } } } }
         devices { id results seconds } }`,
    );
    for (const { node } of shown.shards.edges) expect(node).toMatchObject({ state: 'DONE', device: 'wasm' });
    expect(devices).toEqual([
      { id: 'cpu', results: 2, seconds: expect.any(Number) },
      { id: 'wasm', results: 4, seconds: expect.any(Number) },
    ]);
    const again = await json('analyze', '--run', 'lamps', '--estimators', ids.join(), '--wait');
    expect(again.shards).toMatchObject({ done: 2, cached: 2 });
  });

  it('are in the catalogue, and what is too small says so', async () => {
    const { estimators } = await platform.ask('{ estimators { id device } }');
    expect(estimators.find(({ id }: { id: string }) => id === 'spa-learned')).toMatchObject({ device: 'tensor' });
    const params = JSON.stringify({ minTrajectories: 64 });
    const wish = ['--run', 'lamps', '--estimators', 'spa-learned', '--params', params];
    const analysis = await json('analyze', ...wish, '--wait');
    expect(JSON.stringify(analysis)).toContain('too small to learn from: 40 trajectories with turns');
  });
});

it('recredit doctor says which device is taken, and what to do where a wish is not met', async () => {
  const environment = { RECREDIT_HOME: join(folder, 'none'), RECREDIT_DEVICE: 'cuda' };
  const { code, stdout } = await recredit(['doctor', '--json'], environment);
  expect(code).toBe(1);
  const checks = JSON.parse(stdout).checks as { name: string; ok: boolean | null; found: string; advice: string }[];
  expect(checks.find(({ name }) => name === 'device cuda')).toMatchObject({
    ok: false,
    found: 'not here: @tensorflow/tfjs-node-gpu is not installed',
    advice: expect.stringContaining('RECREDIT_DEVICE'),
  });
  expect(checks.find(({ name }) => name === 'device wasm')).toMatchObject({ ok: null });
});

it.skipIf(absent.length > 0)(
  `the credits agree on wasm and on the software WebGPU adapter${absent.length > 0 ? ` (skipped: no ${absent.join(', no ')})` : ''}`,
  async () => {
    const software = {
      LD_LIBRARY_PATH: CHROMIUM,
      VK_ICD_FILENAMES: DRIVER,
      VK_DRIVER_FILES: DRIVER,
      XDG_RUNTIME_DIR: folder,
      RECREDIT_DEVICE: 'webgpu',
    };
    const agrees = async (id: string) => {
      const credit = async (environment: Record<string, string>) => {
        const answer = await recreditJson(['estimate', rollouts, '--estimator', id, '--params', few], environment);
        return Float64Array.from((answer.turnAdvantage as number[][]).flat());
      };
      const [wasm, webgpu] = [await credit({ RECREDIT_DEVICE: 'wasm' }), await credit(software)];
      expect(pearson(webgpu, wasm), id).toBeGreaterThan(0.9999);
      wasm.forEach((value, turn) => expect(Math.abs(webgpu[turn] - value), id).toBeLessThan(1e-3));
    };
    // two at a time: most of it is one thread that compiles kernels
    const left = LEARNED_ESTIMATORS.map(({ id }) => id);
    const lane = async () => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) await agrees(id);
    };
    await Promise.all([lane(), lane()]);
  },
  900_000,
);
