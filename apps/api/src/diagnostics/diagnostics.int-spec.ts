import { headOf } from '#lib/event-log';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type Answer, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const AT = '2026-11-21T12:00:00Z';

let api: TestApi;
let key: string;
let run: string;

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool, 'ours');
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'starving' });
  for (const step of [0, 1, 2]) await api.append(run, aStarvingStep(step));
  await api.diagnose(run);
});

afterAll(() => api?.close());

/** Eight groups of two, half of them without a signal. */
function aStarvingStep(trainingStep: number): object[] {
  const groups = [0, 1, 2, 3, 4, 5, 6, 7];
  return [
    ...groups.flatMap((group) =>
      [0, 1].map((i) => ({
        type: 'trajectory.recorded',
        at: AT,
        id: `t${trainingStep}-${group}-${i}`,
        group: `g${group}`,
        trainingStep,
        outcomeReward: group < 4 ? 0 : i,
        turns: [{ state: 's', action: 'a' }],
      })),
    ),
    { type: 'trainingStep.recorded', at: AT, trainingStep, metrics: { loss: 1 } },
  ];
}

async function data(query: string, variables?: object): Promise<Answer['data']> {
  const { errors, data } = await api.ask(key, query, variables);
  expect({ errors, logged: api.logged.splice(0) }).toEqual({ errors: undefined, logged: [] });
  return data;
}

it('says what was measured, with its evidence, its values by step and its alerts', async () => {
  const { run: found } = await data(`{ run(id: "starving") {
    diagnostics { id title question asOf reading headline value pendingSteps missing
      steps { trainingStep values observations } evidence { trainingStep group note } }
    alerts(isOpen: true) { edges { node { diagnostic rule level says saw openedStep closedStep } } }
  } }`);
  const byId = (id: string) => found.diagnostics.find((one: { id: string }) => one.id === id);
  const [silent, entropy] = ['zero-variance-groups', 'entropy-trend'].map(byId);
  expect(silent).toMatchObject({
    id: 'zero-variance-groups',
    reading: '12 of the 24 comparable groups carry a signal; in 50 % all outcomes are equal',
    headline: 'groupFraction',
    value: 0.5,
    pendingSteps: 0,
    steps: [0, 1, 2].map((trainingStep) => ({ trainingStep, values: { groupFraction: 0.5 }, observations: 8 })),
    evidence: [0, 1, 2].map((trainingStep) => ({ trainingStep, group: null, note: '4 of 8 groups without a signal' })),
  });
  const reading = 'nothing to measure yet: needs the metric entropy, or token.entropy';
  expect(entropy).toMatchObject({ id: 'entropy-trend', value: null, reading, steps: [] });
  expect(found.alerts.edges.map(({ node }: { node: object }) => node)).toEqual([
    {
      diagnostic: 'zero-variance-groups',
      rule: 'wasteful',
      level: 'WARN',
      says: 'at least 50 % of the groups cannot move the policy',
      saw: { groupFraction: 0.5 },
      openedStep: 2,
      closedStep: null,
    },
  ]);
});

it('draws the headline of each over the training steps, thinned when asked', async () => {
  const curves = async (points: number) =>
    (
      await data(
        `{ run(id: "starving") { diagnostics { id curve(points: ${points}) { name count sampled points { trainingStep value } } } } }`,
      )
    ).run.diagnostics;
  const ofTen = await curves(10);
  const [silent, entropy] = ['zero-variance-groups', 'entropy-trend'].map(
    (wanted) => ofTen.find(({ id }: { id: string }) => id === wanted).curve,
  );
  expect(silent).toEqual({
    name: 'groupFraction',
    count: 3,
    sampled: false,
    points: [0, 1, 2].map((trainingStep) => ({ trainingStep, value: 0.5 })),
  });
  expect(entropy).toMatchObject({ count: 0, points: [] });
  expect((await curves(2))[0].curve).toMatchObject({ count: 3, sampled: true });
});

it('asks as many statements for two runs as for one', async () => {
  const ask = (first: number) =>
    data(
      `{ runs(first: ${first}) { edges { node { diagnostics { id steps { values } curve { count } } alerts(first: 2) { edges { node { id } } } } } } }`,
    );
  await ask(1);
  api.statements.length = 0;
  await ask(1);
  const ofOne = api.statements.length;
  const { id: projectId } = (await api.db.pool.query(`select project_id as id from run where id = $1`, [run])).rows[0];
  const other = await aRun(api.db.ownerPool, { project: projectId, name: 'another' });
  await api.append(other, aStarvingStep(0));
  await api.diagnose(other);
  api.statements.length = 0;
  expect((await ask(2)).runs.edges).toHaveLength(2);
  expect(api.statements).toHaveLength(ofOne);
});

it('speaks of a run as it was, once that is measured', async () => {
  const asOf = 5; // four trajectories: the last step then had two groups
  const before = await data(
    `query ($asOf: Position!) { run(id: "starving") { diagnostics(asOf: $asOf) { reading pendingSteps } } }`,
    { asOf },
  );
  expect(before.run.diagnostics[0]).toEqual({ reading: 'nothing to measure yet', pendingSteps: 1 });
  const { measureDiagnostics } = await data(
    `mutation ($asOf: Position!) { measureDiagnostics(run: "starving", asOf: $asOf) }`,
    { asOf },
  );
  expect(measureDiagnostics).toBe(1);
  await api.diagnose(run, asOf);
  const after = await data(
    `query ($asOf: Position!) { run(id: "starving") { diagnostics(asOf: $asOf) { asOf reading pendingSteps steps { values } } } }`,
    { asOf },
  );
  expect(after.run.diagnostics[0]).toMatchObject({
    asOf,
    reading: '0 of the 2 comparable groups carry a signal; in 100 % all outcomes are equal',
    pendingSteps: 0,
    steps: [{ values: { comparableGroups: 2 } }],
  });
});

it('says which alerts stood then', async () => {
  const alertsAt = async (asOf: number) => {
    await api.diagnose(run, asOf);
    const { run: found } = await data(
      `query ($asOf: Position!) { run(id: "starving") {
        diagnostics(asOf: $asOf) { id alerts { rule level says saw openedStep closedStep } } } }`,
      { asOf },
    );
    return found.diagnostics.find(({ id }: { id: string }) => id === 'zero-variance-groups').alerts;
  };
  expect(await alertsAt(34)).toEqual([]); // two training steps
  const opened = {
    rule: 'wasteful',
    level: 'WARN',
    says: 'at least 50 % of the groups cannot move the policy',
    saw: { groupFraction: 0.5 },
    openedStep: 2,
    closedStep: null,
  };
  expect(await alertsAt(51)).toEqual([opened]);
  const now = await data(`{ run(id: "starving") { diagnostics { alerts { openedStep } } } }`);
  expect(now.run.diagnostics[0].alerts).toEqual([{ openedStep: 2 }]);
});

it('does not measure a run as of a position that it has not reached', async () => {
  const { errors } = await api.ask(key, 'mutation { measureDiagnostics(run: "starving", asOf: 99999999) }');
  expect(errors).toMatchObject([
    {
      message: expect.stringMatching(/^asOf: a position up to \d+ was wanted, found 99999999$/),
      extensions: { code: 'request.invalid' },
    },
  ]);
});

it('speaks of all events there are, its own alerts too', async () => {
  await api.diagnose(run);
  const { run: found } = await data(`{ run(id: "starving") { position diagnostics { asOf } } }`);
  expect(found.position).toBe(await headOf(api.db.pool, run));
  expect(found.diagnostics[0].asOf).toBe(found.position);
});

it('takes other settings, says which it was asked with, and refuses what is none', async () => {
  const set = (settings: unknown) =>
    api.ask(key, `mutation ($s: JSON!) { setDiagnostics(run: "starving", settings: $s) { version settings } }`, {
      s: settings,
    });
  const refusals = [
    [{ 'zero-variance-groups': { warnFraction: 2 } }, /^zero-variance-groups\.warnFraction: Too big.*; found 2$/],
    [{ 'zero-variance-groups': { fraction: 2 } }, /has no setting fraction: one of .*warnFraction.*hold was wanted$/],
    [{ nothing: {} }, /^no diagnostic is named nothing/],
    [[1], /^settings: .* was wanted, null for a default; found \[1\]$/],
    [{ 'entropy-trend': 3 }, /found 3 under entropy-trend$/],
  ] as const;
  for (const [settings, message] of refusals) {
    const { errors } = await set(settings);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(message),
      extensions: { code: 'params.invalid' },
    });
  }
  const { data: changed } = await set({ 'zero-variance-groups': { warnFraction: 0.6, hold: 2 } });
  const settings = { 'zero-variance-groups': { warnFraction: 0.6, hold: 2 } };
  expect(changed.setDiagnostics).toEqual({ version: 1, settings });
  await api.diagnose(run);
  const { run: found } = await data(`{ run(id: "starving") {
    diagnosticSettings { version settings } diagnostics { settingsVersion settings }
    alerts { edges { node { rule closedStep } } } } }`);
  expect(found.diagnosticSettings).toEqual({ version: 1, settings });
  expect(found.diagnostics[0]).toMatchObject({
    settingsVersion: 1,
    settings: { warnFraction: 0.6, hold: { of: 2, within: 2 } },
  });
  expect(found.alerts.edges).toEqual([{ node: { rule: 'wasteful', closedStep: 2 } }]);
  const reader = await api.key(null, 'read');
  const { errors } = await api.ask(reader, 'mutation { setDiagnostics(run: "starving", settings: {}) { version } }');
  expect(errors?.[0].extensions.code).toBe('role.missing');
});

it('says who set what is in force, and since when, and what can be set', async () => {
  const { rows } = await api.db.pool.query(`select project_id as project from run where id = $1`, [run]);
  const other = await aRun(api.db.ownerPool, { project: rows[0].project, name: 'set twice' });
  const colleague = await api.key(null, 'read', 'analyze');
  const set = async (by: string, settings: object) => {
    const query = `mutation ($s: JSON!) { setDiagnostics(run: "${other}", settings: $s) { version } }`;
    expect((await api.ask(by, query, { s: settings })).errors).toBeUndefined();
  };
  await set(key, { 'zero-variance-groups': { warnFraction: 0.6 } });
  await set(colleague, { 'zero-variance-groups': { criticalFraction: 0.9 }, 'pass-at-k': { hold: 2 } });
  await set(colleague, { 'pass-at-k': null });
  await set(key, { 'pass-at-k': { hold: 2 } }); // the same again, but it was away in between
  const { run: found } = await data(
    `{ run(id: "${other}") { diagnosticSettings { version origins { diagnostic name version setBy keyName setAt } } } }`,
  );
  const keyId = (text: string) => text.split('_')[1];
  expect(found.diagnosticSettings.version).toBe(4);
  const origin = (diagnostic: string, name: string, version: number, by: string, keyName: string | null) => ({
    diagnostic,
    name,
    version,
    setBy: keyId(by),
    keyName,
    setAt: expect.any(String),
  });
  expect(found.diagnosticSettings.origins).toEqual([
    origin('pass-at-k', 'hold', 4, key, 'read,analyze'),
    origin('zero-variance-groups', 'criticalFraction', 2, colleague, null), // a key of all projects
    origin('zero-variance-groups', 'warnFraction', 1, key, 'read,analyze'),
  ]);

  const { diagnosticCatalogue: kinds } = await data('{ diagnosticCatalogue { id title source requires settings } }');
  expect(kinds[0]).toMatchObject({
    id: 'zero-variance-groups',
    requires: ['trajectory.outcomeReward'],
    settings: {
      properties: {
        warnFraction: { type: 'number', minimum: 0, maximum: 1, default: 0.5 },
        hold: { anyOf: [{ type: 'integer', minimum: 1, maximum: 1000 }, { type: 'object' }] },
      },
    },
  });
});

it('shows nothing of it to another project', async () => {
  const stranger = await api.key(await aProject(api.db.ownerPool, 'theirs'), 'read', 'analyze');
  const { data: seen } = await api.ask(stranger, `{ run(id: "${run}") { diagnostics { id } } }`);
  expect(seen.run).toBeNull();
  const set = await api.ask(stranger, `mutation { setDiagnostics(run: "${run}", settings: {}) { version } }`);
  expect(set.errors?.[0].extensions.code).toBe('run.unknown');
  const answer = await api.ask(stranger, `mutation { measureDiagnostics(run: "${run}", asOf: 3) }`);
  expect(answer.errors?.[0].extensions.code).toBe('run.unknown');
});
