import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recredit, recreditJson } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

const EXAMPLES = join(import.meta.dirname, '../../docs/examples/estimators');

let folder: string;
let trajectories: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-e2e-own-'));
  trajectories = join(folder, 'trajectories.jsonl');
  const lines = [0, 1].flatMap((trainingStep) =>
    [1, 0].map((outcomeReward) => ({
      id: `${trainingStep}-${outcomeReward}`,
      group: 'g',
      trainingStep,
      outcomeReward,
      turns: outcomeReward ? [{ action: 'a' }, { action: 'b' }] : [{ action: 'a' }],
    })),
  );
  writeFileSync(trajectories, lines.map((line) => JSON.stringify(line)).join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const moduleOf = (id: string, estimate: string) => `export default {
  id: '${id}', title: '${id}', gives: 'advantage', levels: ['trajectory'], requires: ['trajectory.outcomeReward'],
  limitSeconds: 2,
  estimate(trajectories, columns) {
    ${estimate}
  },
};`;
const SAYS = `return { level: 'trajectory', values: columns['trajectory.outcomeReward'] };`;

/** A folder with these modules. */
function modules(files: Readonly<Record<string, string>>): string {
  const at = mkdtempSync(join(folder, 'modules-'));
  for (const [name, source] of Object.entries(files)) writeFileSync(join(at, name), source);
  return at;
}

describe('a module that is no estimator', () => {
  it.concurrent.each([
    ['is not JavaScript', 'export default {\n  id: oh no,\n};', /x\.mjs:2: SyntaxError/],
    ['never ends to load', 'for (;;);', /x\.mjs: it took more than 10 s to import, and was ended/],
    ['ends its process', 'process.exit(0);', /x\.mjs: it ended its thread/],
    ['throws', '\n\nnull.x;', /x\.mjs: TypeError: .* \(x\.mjs:3\)/],
  ])('because it %s is refused at start, and nothing starts', async (_, source, reason) => {
    const RECREDIT_HOME = mkdtempSync(join(folder, 'never-'));
    const { code, stderr } = await recredit(['serve'], {
      RECREDIT_HOME,
      RECREDIT_ESTIMATORS: modules({ 'x.mjs': source }),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
  });
});

describe('without a platform', () => {
  const estimate = (estimator: string, RECREDIT_ESTIMATORS: string) =>
    recredit(['estimate', trajectories, '--estimator', estimator, '--json'], { RECREDIT_ESTIMATORS });

  it('the example is listed and estimates', async () => {
    const { estimators } = await recreditJson(['estimators'], { RECREDIT_ESTIMATORS: EXAMPLES });
    expect(estimators.at(-1)).toMatchObject({ id: 'price-per-turn', hash: expect.stringMatching(/^[0-9a-f]{12}$/) });
    const { code, stdout } = await estimate('price-per-turn', EXAMPLES);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'credit', params: { price: 0.01 } });
  });

  it.each([
    ['prints', `console.log('hello'); ${SAYS}`, 0, /^(hello\n)+$/],
    ['loops for ever', 'for (;;);', 1, /more than 2 s \(its limitSeconds\)/],
    ['throws', 'throw new RangeError("too far");', 1, /RangeError: too far \(x\.mjs:5\)/],
    ['ends its process', 'process.exit(3);', 1, /it ended its thread/],
  ])('one that %s leaves the answer one document, or none', async (_, body, exitCode, stderr) => {
    const ended = await estimate('mine', modules({ 'x.mjs': moduleOf('mine', body) }));
    expect(ended).toMatchObject({ code: exitCode, stderr: expect.stringMatching(stderr) });
    if (exitCode === 0) expect(JSON.parse(ended.stdout)).toMatchObject({ kind: 'credit' });
    else expect(ended.stdout).toBe('');
  });
});

describe('on a platform', () => {
  let platform: ServedPlatform;
  let environment: Record<string, string>;
  let own: string;

  beforeEach(async () => {
    own = modules({
      'sound.mjs': moduleOf('sound', SAYS),
      'endless.mjs': moduleOf('endless', 'for (;;);'),
      'throwing.mjs': moduleOf('throwing', 'throw new RangeError("too far");'),
      'short.mjs': moduleOf('short', `return { level: 'trajectory', values: [1] };`),
      'ending.mjs': moduleOf('ending', 'process.exit(1);'),
    });
    platform = await ServedPlatform.start({ environment: { RECREDIT_ESTIMATORS: own } });
    environment = { RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
    await json('import', 'recredit', trajectories, '--run', 'small');
    return async () => expect(await platform.remove()).toEqual([]);
  });

  const json = (...args: string[]) => recreditJson(args, environment);

  it('those that fail fail alone, and no worker dies of them', async () => {
    const workers = platform.workers();
    const { estimators: listed } = await platform.ask('{ estimators { id hash version } }');
    const sound = listed.find(({ id }: { id: string }) => id === 'sound');
    expect(sound).toEqual({ id: 'sound', version: 0, hash: expect.stringMatching(/^[0-9a-f]{12}$/) });

    const ids = ['grpo', 'sound', 'endless', 'throwing', 'short', 'ending'];
    const analysis = await json('analyze', '--run', 'small', '--estimators', ids.join(), '--wait');
    expect(analysis).toMatchObject({ state: 'completed', shards: { total: 2, done: 2, failed: 0 } });
    const failures = Object.fromEntries(
      analysis.estimators.map(({ id, failures }: { id: string; failures: unknown }) => [id, failures]),
    );
    const inBoth = (reason: RegExp) => [{ shards: 2, reason: expect.stringMatching(reason) }];
    expect(failures).toEqual({
      grpo: [],
      sound: [],
      endless: inBoth(/^endless: .*endless\.mjs: it took more than 2 s/),
      throwing: inBoth(/RangeError: too far \(throwing\.mjs:5\)/),
      short: inBoth(/credit has 1 rows, trajectory has 2/),
      ending: inBoth(/it ended its thread/),
    });
    const comparison = await json('compare', analysis.analysis);
    expect(comparison.estimators.map(({ id }: { id: string }) => id)).toEqual(['grpo', 'sound']);
    expect(platform.workers()).toEqual(workers);

    const again = await json('analyze', '--run', 'small', '--estimators', 'grpo,sound', '--wait');
    expect(again.shards).toMatchObject({ done: 2 });
    expect(again.estimators[1]).toMatchObject({ hash: sound.hash, failures: [] });
  });
});
