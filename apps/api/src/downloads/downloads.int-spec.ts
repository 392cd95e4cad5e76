import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTrainingStep, testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

let api: TestApi;
let url: string;
let project: string;
let run: string;
let analysis: string;
let key: string;

beforeAll(async () => {
  api = await testApi();
  url = await api.listen();
  project = await aProject(api.db.ownerPool);
  run = await aRun(api.db.ownerPool, { project, name: 'a "run"/7é' });
  key = await api.key(project, 'read', 'analyze');
  await api.append(run, [...aTrainingStep(0), ...aTrainingStep(1), ...aTrainingStep(2, { groups: 1 })]);
  await api.append(run, [
    {
      type: 'annotation.recorded',
      at: '2026-11-21T12:00:00Z',
      trajectory: 't1-0-0',
      annotator: 'ann',
      turns: [{ turn: 1, signals: { humanLabel: 1 } }],
    },
  ]);
  await api.project(run);
  const { data } = await api.ask(
    key,
    'mutation ($run: ID!) { startAnalysis(input: { runs: [{ run: $run }], estimators: [{ id: "grpo" }, { id: "gae", params: { granularity: "turn" } }, { id: "grpo", params: { normalizeByStd: false } }] }) { id } }',
    { run },
  );
  analysis = data.startAnalysis.id;
  await api.work(analysis, [run]);
  // two finished trajectories of step 2 wait for their segment, a third is live
  await api.append(run, [
    ...aTrainingStep(2, { groups: 1, prefix: 'late-' }).slice(0, 2),
    {
      type: 'turn.recorded',
      at: '2026-11-21T12:00:00Z',
      trajectory: 'live',
      group: 'g',
      trainingStep: 2,
      turn: 0,
      action: 'go',
    },
  ]);
  await api.project(run);
});

afterAll(() => api?.close());

async function anAnalysis(of: string, estimator = 'grpo'): Promise<string> {
  const { data } = await api.ask(
    key,
    'mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }',
    { input: { runs: [{ run: of }], estimators: [{ id: estimator }] } },
  );
  return data.startAnalysis.id;
}

const get = (path: string, said: string | null = key) =>
  fetch(`${url}${path}`, { headers: said ? { authorization: `Bearer ${said}` } : {} });

async function rowsAt(path: string): Promise<Record<string, unknown>[]> {
  const response = await get(path);
  expect(response.status).toBe(200);
  const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
  return table.toArray().map((row) => ({ ...row.toJSON() }));
}

const trajectoriesAt = () => `/v1/runs/${run}/trajectories.arrow`;
const creditAt = () => `/v1/analyses/${analysis}/credit.arrow`;

describe('trajectories.arrow', () => {
  it('has a row per turn of every finished trajectory, from segments and from the log alike', async () => {
    const rows = await rowsAt(trajectoriesAt());
    expect(rows).toHaveLength(3 * (4 + 4 + 2 + 2));
    expect(rows[0]).toEqual({
      trajectory: 't0-0-0',
      group: 'g0',
      trainingStep: 0,
      turn: 0,
      state: 'room 0',
      action: 'go 0',
      reward: 0,
      outcomeReward: 1,
      success: 1,
      exactAdvantage: 0.5,
      humanLabel: null,
      'trajectory.difficulty': 0,
    });
    expect(rows.filter(({ humanLabel }) => humanLabel !== null)).toMatchObject([
      { trajectory: 't1-0-0', turn: 1, humanLabel: 1 },
    ]);
    const step2 = rows.filter(({ trainingStep }) => trainingStep === 2);
    expect([...new Set(step2.map(({ trajectory }) => trajectory))]).toEqual([
      't2-0-0',
      't2-0-1',
      'late-t2-0-0',
      'late-t2-0-1',
    ]);
    expect(step2[6]).toMatchObject({ trajectory: 'late-t2-0-0', state: 'room 0', action: 'go 0', exactAdvantage: 0.5 });
  });

  it.each([
    ['1..1', [1]],
    ['1', [1]],
    ['..1', [0, 1]],
    ['2..', [2]],
    ['1..2147483647', [1, 2]],
    ['7..9', []],
  ])('of steps %s', async (steps, expected) => {
    const rows = await rowsAt(`${trajectoriesAt()}?steps=${steps}`);
    expect([...new Set(rows.map(({ trainingStep }) => trainingStep))]).toEqual(expected);
  });

  it('says what it is, under a harmless name', async () => {
    const { headers, body } = await get(`/v1/runs/${encodeURIComponent('a "run"/7é')}/trajectories.arrow`);
    await body?.cancel();
    expect(headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
    expect(headers.get('content-disposition')).toBe('attachment; filename="a_run_7_.trajectories.arrow"');
  });

  it('of a run without trajectories has its columns and no row', async () => {
    const empty = await aRun(api.db.ownerPool, { project });
    const response = await get(`/v1/runs/${empty}/trajectories.arrow`);
    const { schema, numRows } = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
    expect(numRows).toBe(0);
    expect(schema.fields.map(({ name }) => name)).toContain('state');
  });

  it('leaves out what a rewind superseded, whether it was in a segment or waited', async () => {
    const rewound = await aRun(api.db.ownerPool, { project });
    await api.append(rewound, [...aTrainingStep(0), ...aTrainingStep(1, { prefix: 'old-' })]);
    await api.work(await anAnalysis(rewound), [rewound]);
    await api.append(rewound, [
      ...aTrainingStep(2, { prefix: 'old-' }),
      { type: 'run.rewound', at: '2026-11-21T12:00:00Z', toTrainingStep: 0 },
      ...aTrainingStep(1, { prefix: 'new-', groups: 1 }),
    ]);
    await api.project(rewound);
    const rows = await rowsAt(`/v1/runs/${rewound}/trajectories.arrow`);
    expect([...new Set(rows.map(({ trajectory }) => String(trajectory)))]).toEqual([
      't0-0-0',
      't0-0-1',
      't0-1-0',
      't0-1-1',
      'new-t1-0-0',
      'new-t1-0-1',
    ]);
  });
});

describe('credit.arrow', () => {
  it('has a row per turn and a column per estimator, null where it says nothing', async () => {
    const rows = await rowsAt(creditAt());
    expect(rows).toHaveLength(3 * (4 + 4 + 2));
    expect(Object.keys(rows[0])).toEqual(['run', 'trainingStep', 'trajectory', 'turn', 'grpo', 'gae', 'grpo:2']);
    expect(rows[4]).toMatchObject({ run, trainingStep: 0, trajectory: 't0-0-1', turn: 1, gae: null, 'grpo:2': -0.5 });
    expect(rows[4].grpo).toBeCloseTo(-Math.SQRT1_2, 5);
  });

  it('says how much of the analysis it is', async () => {
    const whole = await get(creditAt());
    expect(whole.headers.get('recredit-shards')).toBe('3/3');
    expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="${analysis}.credit.arrow"`);
    await whole.body?.cancel();

    const unfinished = await anAnalysis(run, 'rloo');
    await api.work(unfinished, [run], 1);
    const part = await get(`/v1/analyses/${unfinished}/credit.arrow`);
    expect(part.headers.get('recredit-shards')).toBe('1/3');
    expect(tableFromIPC(new Uint8Array(await part.arrayBuffer())).numRows).toBe(12);
  });
});

describe('refused are', () => {
  const refusal = async (path: string, said: string | null = key) => {
    const response = await get(path, said);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    const { status, code } = (await response.json()) as { status: number; code: string };
    expect(status).toBe(response.status);
    return [status, code];
  };

  it.each(['', '..', '3..1', '-1..2', 'a..b', '0..99999999999', '1&steps=2'])('steps=%s', async (steps) => {
    expect(await refusal(`${trajectoriesAt()}?steps=${steps}`)).toEqual([400, 'request.invalid']);
  });

  it('what there is not', async () => {
    expect(await refusal('/v1/runs/nowhere/trajectories.arrow')).toEqual([404, 'run.unknown']);
    expect(await refusal('/v1/runs/a%00b/trajectories.arrow')).toEqual([400, 'request.invalid']);
    expect(await refusal('/v1/analyses/none/credit.arrow')).toEqual([404, 'analysis.unknown']);
  });

  it('who has no key, another role, or another project', async () => {
    const stranger = await api.key(await aProject(api.db.ownerPool), 'admin');
    const trainer = await api.key(project, 'ingest');
    for (const [path, code] of [
      [trajectoriesAt(), 'run.unknown'],
      [creditAt(), 'analysis.unknown'],
    ]) {
      expect(await refusal(path, null)).toEqual([401, 'key.missing']);
      expect(await refusal(path, trainer)).toEqual([403, 'role.missing']);
      expect(await refusal(path, stranger)).toEqual([404, code]);
    }
  });
});

describe('a large download', () => {
  const STEPS = 40;
  let large: string;

  beforeAll(async () => {
    large = await aRun(api.db.ownerPool, { project });
    for (let step = 0; step < STEPS; step++) {
      const text = String(step).padEnd(250_000, 'x');
      const turns = [0, 1, 2, 3].map((turn) => ({ state: `${turn}${text}`, action: 'go' }));
      await api.append(large, [
        {
          type: 'trajectory.recorded',
          at: '2026-11-21T12:00:00Z',
          id: `t${step}`,
          group: 'g',
          trainingStep: step,
          outcomeReward: 1,
          turns,
        },
      ]);
    }
    await api.project(large);
  });

  /** Statements that one step takes at least. */
  const stepsRead = () =>
    api.statements.filter((sql) => sql.includes('from annotation') || sql.includes('annotation join')).length;

  it('is made no faster than it is taken, and no longer than somebody takes it', async () => {
    api.statements.length = 0;
    const asking = request(`${url}/v1/runs/${large}/trajectories.arrow`, {
      headers: { authorization: `Bearer ${key}` },
    });
    asking.end();
    const [response] = await once(asking, 'response');
    response.pause();
    let ahead = -1;
    while (ahead !== stepsRead()) {
      ahead = stepsRead();
      await sleep(500);
    }
    expect(ahead).toBeGreaterThan(1);
    expect(ahead).toBeLessThan(STEPS - 5); // what fits into the buffers of two sockets
    asking.destroy();
    await sleep(300);
    expect(stepsRead()).toBeLessThanOrEqual(ahead + 1);
    expect(api.db.callerPool.idleCount).toBe(api.db.callerPool.totalCount);
    expect(api.logged).toEqual([]);
  });

  it('arrives whole', async () => {
    const response = await get(`/v1/runs/${large}/trajectories.arrow`);
    expect(tableFromIPC(new Uint8Array(await response.arrayBuffer())).numRows).toBe(4 * STEPS);
  });
});

it('a download that breaks off does not pass for a whole one', async () => {
  const damaged = await aRun(api.db.ownerPool, { project });
  await api.append(damaged, aTrainingStep(0));
  await api.work(await anAnalysis(damaged), [damaged]);
  const folder = join(api.folder, 'segments', damaged);
  const segment = readdirSync(folder).find((name) => name.endsWith('.text.arrow')) ?? '';
  writeFileSync(join(folder, segment), 'damaged');
  const response = await get(`/v1/runs/${damaged}/trajectories.arrow`);
  await expect(response.arrayBuffer()).rejects.toThrow();
  expect(api.logged).toMatchObject([{ msg: 'a download broke off' }]);
  api.logged.length = 0;
});

it('HEAD makes nothing', async () => {
  api.statements.length = 0;
  const response = await fetch(`${url}${trajectoriesAt()}`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('');
  expect(api.statements.some((sql) => sql.includes('segment_step'))).toBe(false);
});

const hasPyarrow = spawnSync('python3', ['-c', 'import pyarrow']).status === 0;

it.skipIf(!hasPyarrow)('pyarrow reads both (skipped where python3 with pyarrow is not there)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recredit-download-'));
  try {
    for (const [name, path] of [
      ['trajectories', trajectoriesAt()],
      ['credit', creditAt()],
    ]) {
      writeFileSync(join(folder, name), Buffer.from(await (await get(path)).arrayBuffer()));
      const script = `import pyarrow.ipc as ipc; t = ipc.open_stream('${name}').read_all(); t.validate(full=True); print(t.num_rows)`;
      const { stdout, stderr } = spawnSync('python3', ['-c', script], { cwd: folder, encoding: 'utf8' });
      expect(stderr).toBe('');
      expect(Number(stdout)).toBe(name === 'credit' ? 30 : 36);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('what the diagnosis of a run says', () => {
  let diagnosed: string;

  beforeAll(async () => {
    diagnosed = await aRun(api.db.ownerPool, { project, name: 'diagnosed' });
    for (const step of [0, 1, 2]) await api.append(diagnosed, aStarvingStep(step));
    await api.diagnose(diagnosed);
  });

  it('comes as a row per training step, diagnostic and value, the run as a whole first', async () => {
    const rows = await rowsAt('/v1/runs/diagnosed/diagnostics.arrow');
    const silent = rows.filter(
      ({ diagnostic, name }) => diagnostic === 'zero-variance-groups' && name === 'groupFraction',
    );
    const row = { diagnostic: 'zero-variance-groups', name: 'groupFraction', value: 0.5 };
    expect(silent).toEqual([
      { ...row, trainingStep: null, observations: null },
      ...[0, 1, 2].map((trainingStep) => ({ ...row, trainingStep, observations: 8 })),
    ]);
    // a value that is undefined is null, and stands there
    expect(rows.filter(({ value }) => value === null)).not.toEqual([]);
    expect(rows.filter(({ value }) => Number.isNaN(value))).toEqual([]);
    expect(new Set(rows.map(({ diagnostic }) => diagnostic)).size).toBeGreaterThan(10);
  });

  it('comes with its alerts and its plan', async () => {
    const [alert, ...others] = await rowsAt('/v1/runs/diagnosed/alerts.arrow');
    expect(others).toEqual([]);
    expect(alert).toMatchObject({ diagnostic: 'zero-variance-groups', rule: 'wasteful', level: 'warn', openedStep: 2, closedStep: null, saw: '{"groupFraction":0.5}' }); // prettier-ignore
    expect(new Date(alert['openedAt'] as string).getTime()).toBeGreaterThan(Date.now() - 60_000);
    const plan = await rowsAt('/v1/runs/diagnosed/plan.arrow');
    const tasks = plan.filter(({ kind }) => kind === 'task');
    expect(tasks).toHaveLength(8);
    expect(tasks.find(({ task }) => task === 'g0')).toMatchObject({ band: 'unsolved', attempts: 6, successes: 0, chance: 1 / 8, needsHint: 1, trajectory: null }); // prettier-ignore
    expect(tasks.reduce((sum, { rollouts }) => sum + Number(rollouts), 0)).toBe(16);
    expect(plan.find(({ kind }) => kind === 'failure')).toMatchObject({ task: null, size: 36, trainingStep: 0 });
  });

  it('is empty where nothing was diagnosed, and nobody else’s', async () => {
    const other = await aRun(api.db.ownerPool, { project, name: 'undiagnosed' });
    for (const table of ['diagnostics', 'alerts', 'plan']) {
      expect(await rowsAt(`/v1/runs/${other}/${table}.arrow`)).toEqual([]);
      const stranger = await api.key(await aProject(api.db.ownerPool), 'read');
      expect((await get(`/v1/runs/diagnosed/${table}.arrow`, stranger)).status).toBe(404);
      expect((await get(`/v1/runs/diagnosed/${table}.arrow`, null)).status).toBe(401);
    }
  });
});

/** Eight groups of two, half of them without a signal. */
function aStarvingStep(trainingStep: number): object[] {
  const at = '2026-11-21T12:00:00Z';
  const trajectories = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((group) =>
    [0, 1].map((i) => ({
      type: 'trajectory.recorded',
      at,
      id: `t${trainingStep}-${group}-${i}`,
      group: `g${group}`,
      trainingStep,
      outcomeReward: group < 4 ? 0 : i,
      turns: [{ state: 's', action: 'a' }],
    })),
  );
  return [...trajectories, { type: 'trainingStep.recorded', at, trainingStep, metrics: { loss: 1 } }];
}
