import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pearson } from '#lib/numeric';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lampRollouts } from '../../libs/credit-learned/src/learned.fixture.js';
import { recredit, recreditJson } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

/** Debian's chromium brings a Vulkan loader, and a driver that computes on the processor. */
const CHROMIUM = '/usr/lib/chromium';
const DRIVER = join(CHROMIUM, 'vk_swiftshader_icd.json');
const absent = [DRIVER, join(CHROMIUM, 'libvulkan.so.1'), 'node_modules/webgpu/index.js'].filter((f) => !existsSync(f));

/** Of the learned credit; closed forms agree to the bit once their states do. */
const TOLERANCE = 1e-3;
const FEW = JSON.stringify({ 'spa-learned': { epochs: 2, hiddenUnits: 4, batchSize: 64 }, gigpo: {}, hgpo: {} });
const ESTIMATORS = ['gigpo', 'hgpo', 'spa-learned'];

let folder: string;
let rollouts: string;

/** Two training steps; in the second one the trainer logged embeddings, near each other in one room. */
function records() {
  const noise = (i: number, k: number) => 0.05 * Math.sin(7 * i + 13 * k);
  return [0, 1].flatMap((trainingStep) =>
    lampRollouts({ groups: 5, perGroup: 8, seed: `step ${trainingStep}` }).map((record, i) => ({
      ...record,
      id: `${trainingStep}-${record.id}`,
      trainingStep,
      turns: record.turns.map(({ signals, ...turn }, t) => {
        const room = ['kitchen', 'cellar', 'garden', 'attic', 'hall'].findIndex((name) => turn.state.endsWith(name));
        const embedding = Array.from({ length: 12 }, (_, k) => Number(k === room) + noise(10 * i + t, k));
        return {
          ...turn,
          state: `${turn.state}, after ${t} turns`,
          reward: signals.worth,
          ...(trainingStep === 1 && { signals: { embedding } }),
        };
      }),
    })),
  );
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-e2e-similarity-'));
  rollouts = join(folder, 'lamps.jsonl');
  writeFileSync(rollouts, records().map((record) => JSON.stringify(record)).join('\n')); // prettier-ignore
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface NearTurn {
  readonly trajectory: string;
  readonly index: number;
  readonly outcomeReward: number;
  readonly similarity: number;
}

/** All that one platform says, on one device. */
interface Answers {
  readonly shards: readonly { readonly state: string; readonly device: string }[];
  readonly estimators: readonly string[];
  /** of every turn, by estimator */
  readonly credit: ReadonlyMap<string, readonly number[]>;
  readonly nearest: { failures: NearTurn[]; successes: NearTurn[]; devices: string[]; by: string };
}

async function answersOn(environment: Record<string, string>): Promise<Answers> {
  const platform = await ServedPlatform.start({ environment });
  try {
    const client = { RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
    await recreditJson(['import', 'recredit', rollouts, '--run', 'lamps'], client);
    const wish = ['--run', 'lamps', '--estimators', ESTIMATORS.join(), '--params', FEW];
    const asked = await recreditJson(['analyze', ...wish, '--state-identity', 'embedding:0.85', '--wait'], client);
    expect(asked).toMatchObject({ state: 'completed', shards: { total: 2, done: 2, failed: 0 } });
    await sameByGraphql(platform);
    const { estimators } = await recreditJson(['compare', asked.analysis], client);
    const { analysis, run } = await platform.ask(
      `{ analysis(id: "${asked.analysis}") { stateIdentity { by threshold } shards { edges { node { state device } } } }
         run(id: "lamps") { trajectories(first: 100) { edges { node { id turns(first: 10) { edges { node {
           credit(analysis: "${asked.analysis}") { estimator credit } } } } } } } } }`,
    );
    expect(analysis.stateIdentity).toEqual({ by: 'EMBEDDING', threshold: 0.85 });
    const said = run.trajectories.edges.flatMap(({ node }: any) =>
      node.turns.edges.flatMap((edge: any) => edge.node.credit),
    );
    const of = (id: string) => said.filter((one: any) => one.estimator === id).map((one: any) => one.credit as number);
    return {
      shards: analysis.shards.edges.map(({ node }: any) => node),
      estimators: estimators.map(({ id }: any) => id as string),
      credit: new Map(ESTIMATORS.map((id) => [id, of(id)])),
      nearest: await recreditJson(['nearest', 'lamps', '0-t3', '1', '--k', '3'], client),
    };
  } finally {
    expect(await platform.remove()).toEqual([]);
  }
}

/** Asked for by GraphQL, the same analysis is known already. */
async function sameByGraphql(platform: ServedPlatform): Promise<void> {
  const { startAnalysis } = await platform.ask(
    `mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }`,
    {
      input: {
        runs: [{ run: 'lamps' }],
        estimators: ESTIMATORS.map((id) => ({ id, params: JSON.parse(FEW)[id] })),
        stateIdentity: { by: 'EMBEDDING', threshold: 0.85 },
      },
    },
  );
  const progress = async () =>
    (await platform.ask(`{ analysis(id: "${startAnalysis.id}") { progress { state cached } } }`)).analysis.progress;
  const known = { state: 'COMPLETED', cached: 2 };
  await vi.waitFor(async () => expect(await progress()).toEqual(known), { timeout: 60_000, interval: 200 });
}

describe('an analysis of closed and learned estimators, by embedding', () => {
  let wasm: Answers;
  let software: Promise<Answers> | undefined;
  beforeAll(async () => {
    // most of it is one thread that compiles kernels: the other device is asked meanwhile
    if (absent.length === 0) {
      software = answersOn({
        LD_LIBRARY_PATH: CHROMIUM,
        VK_ICD_FILENAMES: DRIVER,
        VK_DRIVER_FILES: DRIVER,
        XDG_RUNTIME_DIR: folder,
        RECREDIT_DEVICE: 'webgpu',
      });
      software.catch(() => {}); // the test below says so
    }
    wasm = await answersOn({ RECREDIT_DEVICE: 'wasm' });
  }, 300_000);
  afterAll(() => software?.catch(() => {}));

  it('runs from the command line and GraphQL, on the device that its shards name', () => {
    expect(wasm.shards).toEqual([0, 1].map(() => ({ state: 'DONE', device: 'wasm' })));
    expect(wasm.estimators.toSorted()).toEqual(ESTIMATORS.toSorted());
    for (const credit of wasm.credit.values()) {
      expect(credit.length).toBe(records().reduce((sum, { turns }) => sum + turns.length, 0));
      expect(new Set(credit).size).toBeGreaterThan(10);
    }
  });

  it('is the one of states that resemble each other, not of equal ones', async () => {
    const credit = async (...identity: string[]) => {
      const answer = await recreditJson(['estimate', rollouts, '--estimator', 'gigpo', ...identity], { RECREDIT_DEVICE: 'wasm' }); // prettier-ignore
      return (answer.turnAdvantage as number[][]).flat();
    };
    expect(await credit('--state-identity', 'embedding:0.85')).toEqual(wasm.credit.get('gigpo'));
    expect(await credit()).not.toEqual(wasm.credit.get('gigpo'));
  });

  it('has the turns nearest to a turn, of failures and of successes', async () => {
    const { failures, successes, devices, by } = wasm.nearest;
    expect([by, devices, failures.length, successes.length]).toEqual(['text', ['wasm'], 3, 3]);
    for (const { outcomeReward } of failures) expect(outcomeReward).toBeLessThanOrEqual(0);
    for (const { outcomeReward } of successes) expect(outcomeReward).toBeGreaterThan(0);
    for (const { trajectory } of [...failures, ...successes]) expect(trajectory).not.toBe('0-t3');
  });

  it.skipIf(absent.length > 0)(
    `agrees on the software WebGPU adapter${absent.length > 0 ? ` (skipped: no ${absent.join(', no ')})` : ''}`,
    async () => {
      const webgpu = await software!;
      for (const { state, device } of webgpu.shards) {
        expect([state, device]).toEqual(['DONE', expect.stringMatching(/^webgpu \(.*swiftshader/i)]);
      }
      for (const id of ['gigpo', 'hgpo']) expect(webgpu.credit.get(id), id).toEqual(wasm.credit.get(id));
      const [learned, wanted] = [webgpu, wasm].map(({ credit }) => Float64Array.from(credit.get('spa-learned')!));
      expect(pearson(learned, wanted)).toBeGreaterThan(0.99);
      learned.forEach((value, turn) => expect(Math.abs(value - wanted[turn])).toBeLessThan(TOLERANCE));
      for (const of of ['failures', 'successes'] as const) {
        webgpu.nearest[of].forEach(({ similarity }, i) =>
          expect(similarity).toBeCloseTo(wasm.nearest[of][i].similarity, 5),
        );
      }
    },
    900_000,
  );
});

it('recredit nearest says what was wanted and what was found', async () => {
  const home = join(folder, 'none');
  const { code, stderr } = await recredit(['nearest', 'lamps', 't', 'first'], { RECREDIT_HOME: home });
  expect([code, stderr]).toEqual([2, expect.stringContaining('expected a whole number from 0')]);
});
