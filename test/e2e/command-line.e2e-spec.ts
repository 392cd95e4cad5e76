import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { offline } from '#lib/sdk';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recredit, recreditJson } from '../support/recredit.js';
import { ServedPlatform } from '../support/served-platform.js';

const AIRLINE = join(import.meta.dirname, '../../../shared/data/tau-bench/gpt-4o-airline.json.gz');

let platform: ServedPlatform;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recredit-e2e-cli-'));
  platform = await ServedPlatform.start();
  environment = { RECREDIT_HOME: platform.home, RECREDIT_URL: platform.url };
  writeFileSync(join(folder, 'small.jsonl'), SMALL.map((each) => JSON.stringify(each)).join('\n'));
  await json('import', 'recredit', join(folder, 'small.jsonl'), '--run', 'small');
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  expect(await platform?.remove()).toEqual([]);
});

const json = (...args: string[]) => recreditJson(args, environment);
const text = (...args: string[]) => recredit(args, environment);

/** Two steps of two groups of three; in one group of each step all outcomes are equal. */
const SMALL = [0, 1].flatMap((trainingStep) =>
  ['easy', 'hard'].flatMap((group) =>
    [0, 1, 2].map((i) => {
      const outcomeReward = group === 'easy' || i === 0 ? 1 : 0;
      return {
        id: `${trainingStep}-${group}-${i}`,
        group,
        trainingStep,
        outcomeReward,
        success: outcomeReward === 1,
        turns: [0, 1].map((turn) => ({
          state: `room ${turn}`,
          action: `go ${(i + turn) % 2}`,
          reward: turn === 1 ? outcomeReward : 0,
          signals: { exactAdvantage: outcomeReward - 0.5 + 0.1 * turn },
        })),
      };
    }),
  ),
);

describe.skipIf(!existsSync(AIRLINE))('tau-bench on the real file (skipped where ../shared is absent)', () => {
  it('is imported once, and says that 26 of its 50 groups carry a signal', async () => {
    const first = await json('import', 'tau-bench', AIRLINE, '--run', 'airline');
    expect(first).toMatchObject({ trajectories: 200, groups: 50, turns: 2454, skipped: [], newEvents: 200 });
    const again = await json('import', 'tau-bench', AIRLINE, '--run', 'airline');
    expect(again).toMatchObject({ run: first.run, trajectories: 200, groups: 50, turns: 2454, newEvents: 0 });
    const run = await json('run', 'airline');
    expect(run.progress).toMatchObject({ trajectoryCount: 200, finishedCount: 200, groupCount: 50, turnCount: 2454 });

    const analysis = await json('analyze', '--run', 'airline', '--estimators', 'grpo,gigpo', '--wait');
    expect(analysis).toMatchObject({ state: 'completed', groups: 50, groupsWithSignal: 26 });
    const { stdout } = await text('compare', analysis.analysis);
    expect(stdout).toContain('26 of the 50 groups carry a signal');
    const exported = await json('export', analysis.analysis, '--to', join(folder, 'airline'));
    expect(tableFromIPC(readFileSync(exported.files[0].path)).numRows).toBe(2454);
  });
});

describe('import', () => {
  it('names what it skips, and takes the rest', async () => {
    const path = join(folder, 'torn.jsonl');
    writeFileSync(path, `${JSON.stringify(SMALL[0])}\n{"id": "torn\n${JSON.stringify({ ...SMALL[1], turns: 3 })}\n`);
    const { skipped, ...rest } = await json('import', 'recredit', path, '--run', 'torn');
    expect(rest).toMatchObject({ trajectories: 1, groups: 1, turns: 2, skippedCount: 2 });
    expect(skipped).toEqual([
      { where: `${path}:2`, why: expect.stringContaining('not JSON') },
      { where: `${path}:3`, why: expect.stringContaining('/turns') },
    ]);
  });
});

describe('analyze and compare', () => {
  it('answer with the documents that the contract promises', async () => {
    const analysis = await json('analyze', '--run', 'small', '--estimators', 'grpo,gigpo,gae', '--wait');
    expect(analysis).toMatchObject({
      analysis: expect.any(String),
      state: 'completed',
      shards: { total: 2, done: 2, failed: 0, cached: 0 },
      estimators: [
        { id: 'grpo', version: 1, params: { normalizeByStd: true }, inputsMissing: [] },
        { id: 'gigpo', version: 1, inputsMissing: [] },
        { id: 'gae', version: 1, inputsMissing: [{ path: 'token.reward' }, { path: 'token.value' }] },
      ],
    });
    const comparison = await json('compare', analysis.analysis);
    expect(comparison).toMatchObject({
      analysis: analysis.analysis,
      turns: 24,
      groups: 4,
      groupsWithSignal: 2,
      pairs: [
        {
          a: 'gigpo',
          b: 'grpo',
          pearson: expect.any(Number),
          spearman: expect.any(Number),
          signAgreement: expect.any(Number),
        },
      ],
      disputed: expect.any(Array),
    });
    expect(comparison.estimators.map(({ id }: { id: string }) => id)).toEqual(['grpo', 'gigpo']);
    for (const estimator of comparison.estimators) {
      for (const number of ['signalDensity', 'mean', 'std', 'withinTrajectoryShare']) {
        expect(estimator[number]).toEqual(expect.any(Number));
      }
    }
    expect(comparison.truths[0]).toMatchObject({
      signal: 'exactAdvantage',
      estimator: 'grpo',
      n: 24,
      auc: expect.any(Number),
      spearman: expect.any(Number),
      low: expect.any(Number),
      high: expect.any(Number),
    });
  });

  it('give the same answer as of the same position, and know it already', async () => {
    const { progress } = await json('run', 'small');
    const ask = ['analyze', '--run', 'small', '--estimators', 'rloo', '--as-of', String(progress.position), '--wait'];
    const [one, two] = [await json(...ask), await json(...ask)];
    expect(two.shards).toEqual({ total: 2, done: 2, failed: 0, cached: 2 });
    const { analysis: _, ...first } = await json('compare', one.analysis);
    const { analysis: __, ...second } = await json('compare', two.analysis);
    expect(second).toEqual(first);
  });

  it('take some steps alone, and params by estimator', async () => {
    const params = '{"gigpo": {"gamma": 0.5}}';
    const limits = ['--steps', '1..1', '--params', params, '--wait'];
    const analysis = await json('analyze', '--run', 'small', '--estimators', 'grpo,gigpo', ...limits);
    expect(analysis.shards.total).toBe(1);
    expect(analysis.estimators[1].params.gamma).toBe(0.5);
    expect(await json('compare', analysis.analysis)).toMatchObject({ turns: 12, groups: 2 });
  });

  it('are refused in one line where there is nothing to speak of', async () => {
    for (const [args, why] of [
      [['analyze', '--run', 'nobody', '--estimators', 'grpo'], 'no run nobody'],
      [['analyze', '--run', 'small', '--estimators', 'grpo', '--params', '{"gamma": 1}'], 'grpo'],
      [['compare', 'nothing'], 'no analysis nothing'],
    ] as const) {
      const { code, stdout, stderr } = await text(...args);
      expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 1, stdout: '', lines: 1 });
      expect(stderr).toContain(why);
    }
  });

  it('name what was meant where a name is not quite right', async () => {
    const tagged = SMALL.map((each) => ({ ...each, signals: { taskType: each.group } }));
    writeFileSync(join(folder, 'tagged.jsonl'), tagged.map((each) => JSON.stringify(each)).join('\n'));
    await json('import', 'recredit', join(folder, 'tagged.jsonl'), '--run', 'tagged');
    const { analysis } = await json('analyze', '--run', 'tagged', '--estimators', 'grpo,gigpo', '--wait');
    for (const [args, why] of [
      [['analyze', '--run', 'tagged', '--estimators', 'grppo'], 'no estimator grppo: was grpo meant?'],
      [['audit', 'tagged', '--estimator', 'grppo'], 'no estimator grppo: was grpo meant?'],
      [['compare', analysis, '--by', 'taskTpye'], 'the comparison has no tag taskTpye: was taskType meant?'],
      [['compare', analysis, '--by', 'nope'], 'the comparison has no tag nope; there is taskType'],
    ] as const) {
      expect(await text(...args)).toEqual({ code: 1, stdout: '', stderr: `recredit: ${why}\n` });
    }
  });
});

describe('diagnose', () => {
  it('says what stands now, and what stood then', async () => {
    // eight groups of two a step; in the first three steps half of them carry no signal
    const rollouts = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((trainingStep) =>
      Array.from({ length: 16 }, (_, i) => ({
        id: `${trainingStep}-${i}`,
        group: `task ${i >> 1}`,
        trainingStep,
        outcomeReward: trainingStep < 3 && i < 8 ? 0 : i % 2,
        turns: [{ state: 'a room', action: 'go' }],
      })),
    );
    writeFileSync(join(folder, 'starved.jsonl'), rollouts.map((each) => JSON.stringify(each)).join('\n'));
    await json('import', 'recredit', join(folder, 'starved.jsonl'), '--run', 'starved');
    const now = await text('diagnose', 'starved');
    expect(now.stdout).toMatch(/^starved, its first \d+ events: no alert stands, 1 came and went$/m);
    const then = await text('diagnose', 'starved', '--as-of', '49');
    expect(then.stdout).toMatch(/^starved, its first 49 events: 1 alert stands$/m);
    expect(then.stdout).toContain('zero-variance-groups, since training step 2 (groupFraction 0.5000)');
    const { asOf, alerts } = await json('diagnose', 'starved', '--as-of', '33');
    expect({ asOf, alerts }).toEqual({ asOf: 33, alerts: [] });
  });
});

describe('files', () => {
  it('of a run can be exported, and judged again without the platform, to the same bytes', async () => {
    const { analysis } = await json('analyze', '--run', 'small', '--estimators', 'grpo,hgpo', '--wait');
    const exported = await json('export', 'small', '--to', join(folder, 'export'));
    expect(tableFromIPC(readFileSync(exported.files[0].path)).numRows).toBe(24);

    const { id } = await json('run', 'small');
    const input = join(platform.home, 'segments/segments', id);
    const output = join(folder, 'shards');
    const ask = ['shard', '--input', input, '--estimators', 'grpo,hgpo', '--output', output];
    const { shards } = await recreditJson(ask, { RECREDIT_HOME: join(folder, 'nowhere') });
    const stored = new Set(globSync(join(platform.home, 'segments/credit/*/*.arrow')).map(sha256));
    const computed = shards.flatMap(({ credit }: { credit: { file: string }[] }) => credit.map(({ file }) => file));
    expect(computed).toHaveLength(4);
    for (const file of computed) expect(stored).toContain(sha256(join(output, file)));

    const { analysis: _, estimators: __, truths: ___, ...whole } = await json('compare', analysis);
    expect(JSON.parse(readFileSync(join(output, 'comparison.json'), 'utf8'))).toMatchObject(whole);
  });

  it('of a trainer without network are delivered once', async () => {
    const spool = join(folder, 'spool');
    const run = await offline(spool).startRun({ project: 'default', name: 'offline' });
    for (const rollout of SMALL) run.record(rollout);
    await run.end();
    expect(await json('sync', spool)).toMatchObject({
      sent: 13,
      unsent: 0,
      refused: 0,
      producers: [{ name: 'offline' }],
    });
    expect(await json('sync', spool)).toMatchObject({ sent: 0, producers: [] });
  });
});

describe('keys', () => {
  it('are made with roles, listed without secrets, and end', async () => {
    const { id, key } = await json('keys', 'create', 'reader', '--roles', 'read');
    const as = { ...environment, RECREDIT_API_KEY: key };
    expect((await recreditJson(['runs'], as)).runs.length).toBeGreaterThan(0);
    const refused = await recredit(['analyze', '--run', 'small', '--estimators', 'grpo'], as);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('a key with the role analyze') });

    const { stdout } = await text('keys', 'list');
    expect(stdout).toContain(id);
    expect(stdout).not.toContain(key);
    await json('keys', 'revoke', id);
    expect(await recredit(['runs'], as)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('key is not known'),
    });
  });

  it('are asked for where there is none', async () => {
    const { code, stderr } = await recredit(['runs'], { RECREDIT_HOME: folder, RECREDIT_URL: platform.url });
    expect(code).toBe(1);
    expect(stderr).toContain('wants a key: set RECREDIT_API_KEY');
  });
});

describe('the log', () => {
  it('is rebuilt to the same comparison', async () => {
    const { analysis } = await json('analyze', '--run', 'small', '--estimators', 'grpo', '--wait');
    const before = [await json('compare', analysis), (await json('run', 'small')).progress];
    expect(await json('rebuild', 'small')).toMatchObject({ rebuilt: [{ name: 'small', events: expect.any(Number) }] });
    expect([await json('compare', analysis), (await json('run', 'small')).progress]).toEqual(before);
  });

  it('is verified, and a batch that somebody changed is named', async () => {
    expect(await json('verify', 'small')).toMatchObject({
      name: 'small',
      ok: true,
      broken: null,
      batches: expect.any(Number),
    });

    const owner = platform.ownerPool();
    await owner.query('alter table event_batch disable trigger user');
    await owner.query(
      `update event_batch set payload_sha256 = sha256('other') where first_position = 1
         and run_id = (select id from run where name = 'torn')`,
    );
    const { code, stdout } = await text('verify', 'torn');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^torn: BROKEN at the batch at position 1 .*payload hash/);
  });
});

it('tells a newcomer what there is', async () => {
  const { stdout: runs } = await text('runs');
  expect(runs).toMatch(/^run +project +state/);
  const { stdout: run } = await text('run', 'small');
  expect(run).toContain('2 of the 4 comparable groups carry a signal');
  expect(run).toContain('turn.exactAdvantage');
  const { code, stdout: doctor } = await text('doctor');
  expect(code).toBe(0);
  expect(doctor).toMatch(/^ok +platform +ready at/m);
  expect((await text('webhooks', 'list')).stdout).toBe('no webhook yet: `recredit webhooks create URL` makes one\n');
  expect((await text('labels', 'small', '--signals', 'nope')).stdout).toBe('nobody labelled a turn by nope\n');
});

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
