import { DIAGNOSTICS, type Diagnosis } from '#lib/diagnostics';
import { readEvents } from '#lib/event-log';
import { rebuild } from '#lib/projection';
import { beforeEach, describe, expect, it } from 'vitest';
import { forgetSegments } from '../../../test/support/forget-segments.js';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { raiseAlerts, type AlertEdge } from './alerts.js';
import { CheckpointWindow } from './checkpoint-window.js';
import { diagnoseRun, measureSteps, readDiagnosis } from './diagnose-run.js';
import { groupsOfTwo } from './groups-of-two.fixture.js';
import { keepDiagnosis } from './kept-diagnosis.js';
import { keptReadings } from './kept-readings.fixture.js';
import { measureTask, type MeasureTask, type StepToMeasure } from './measure-step.js';
import { runsToDiagnose } from './runs-to-diagnose.js';
import { changeSettings, runSettings, type SettingChanges } from './settings.js';
import { stepRevisions } from './step-revisions.js';

const AT = new Date().toISOString();

const here = recordedRun();
const { send } = here;
/** every step that was really measured */
let measured: StepToMeasure[];
let edges: AlertEdge[];

beforeEach(async () => {
  measured = [];
  edges = [];
});

const stepOf = (step: number, silent: number, prefix = '') => [
  ...groupsOfTwo(step, silent, prefix, (group, i) => ({
    at: AT,
    success: group >= silent && i === 1,
    turns: [{ state: 's', action: 'a' }],
  })),
  { type: 'trainingStep.recorded', at: AT, trainingStep: step, metrics: { entropy: 2 - step / 10 } },
];

const ports = () => ({
  pool: here.db.pool,
  measure: (task: MeasureTask) => {
    measured.push(...task.steps);
    return measureTask(here.store, task);
  },
  alerted: async (found: readonly AlertEdge[]) => void edges.push(...found),
});

/** Sends, projects and diagnoses. @returns the readings by diagnostic */
async function advance(events: readonly object[], isFinal = false): Promise<Record<string, Diagnosis>> {
  await send(events);
  await diagnoseRun(ports(), here.run, isFinal);
  return readings();
}

const readings = () => keptReadings(here.db.pool, here.run);

const alertEvents = async () =>
  (await readEvents(here.db.pool, here.run, 0))
    .map(({ event }) => event)
    .filter(({ type }) => type.startsWith('alert.'));

it('measures a training step once, when it is complete', async () => {
  const first = await advance([...stepOf(0, 2), ...stepOf(1, 6).slice(0, 4)]);
  expect(first['zero-variance-groups'].values).toMatchObject({ comparableGroups: 8, zeroVarianceGroups: 2 });
  expect(measured.map(({ trainingStep }) => trainingStep)).toEqual([0]);

  const second = await advance(stepOf(1, 6).slice(4));
  expect(second['zero-variance-groups'].values).toMatchObject({ comparableGroups: 16, zeroVarianceGroups: 8 });
  expect(second['entropy-trend'].steps.map(({ values }) => values['entropy'])).toEqual([2, 1.9]);
  expect(measured.map(({ trainingStep }) => trainingStep)).toEqual([0, 1]);

  await diagnoseRun(ports(), here.run, true);
  expect(measured).toHaveLength(2);
});

it('measures the last step as it is when the run ended', async () => {
  const unfinished = stepOf(0, 2).slice(0, 6);
  await advance(unfinished);
  expect(measured).toHaveLength(0);
  const { 'zero-variance-groups': reading } = await advance([{ type: 'run.ended', at: AT }], true);
  expect(reading.values).toMatchObject({ comparableGroups: 3 });
});

it('raises an alert once, as an event of the run, and closes it by itself', async () => {
  for (const step of [0, 1, 2, 3]) await advance(stepOf(step, 4));
  const opened = {
    edge: 'opened',
    diagnostic: 'zero-variance-groups',
    rule: 'wasteful',
    level: 'warn',
    trainingStep: 2,
  };
  expect(edges).toMatchObject([opened]);
  expect(edges[0].saw).toEqual({ groupFraction: 0.5 });

  for (const step of [4, 5, 6, 7]) await advance(stepOf(step, 0));
  expect(edges).toHaveLength(1);
  await advance(stepOf(8, 0));
  expect(edges[1]).toMatchObject({ ...opened, edge: 'closed', trainingStep: 8, alert: edges[0].alert });

  const events = await alertEvents();
  expect(events).toMatchObject([
    { type: 'alert.opened', alert: edges[0].alert, trainingStep: 2 },
    { type: 'alert.closed', alert: edges[0].alert, trainingStep: 8 },
  ]);
  const { rows } = await here.db.pool.query('select opened_step, closed_step from alert where run_id = $1', [here.run]);
  expect(rows).toEqual([{ opened_step: 2, closed_step: 8 }]);
});

it('raises each alert once when two workers diagnose at the same time', async () => {
  await send([0, 1, 2].flatMap((step) => stepOf(step, 4)));
  await Promise.all([1, 2, 3, 4].map(() => diagnoseRun(ports(), here.run, true)));
  expect(edges).toHaveLength(1);
  expect(await alertEvents()).toHaveLength(1);
});

it('says of an old run what it would have said then', async () => {
  for (const step of [0, 1, 2]) await advance(stepOf(step, 4));
  const then = await readings();
  const { rows } = await here.db.pool.query('select as_of::float8 as "asOf" from diagnosis where run_id = $1', [
    here.run,
  ]);
  await advance(stepOf(3, 8));
  const again = await readDiagnosis(here.db.pool, here.run, rows[0].asOf);
  expect(Object.fromEntries(again.readings.map((reading) => [reading.id, reading]))).toEqual(then);
  expect(again.pendingSteps).toBe(0);
});

it('measures as of any position, as if the rest had never come', async () => {
  await send([...stepOf(0, 2), ...stepOf(1, 2).slice(0, 4)]);
  const asOf = sequencePosition(await readEvents(here.db.pool, here.run, 0));
  await send(stepOf(1, 2).slice(4));
  const steps = await stepRevisions(here.db.pool, here.run, asOf);
  expect(steps.map(({ trajectoryCount }) => trajectoryCount)).toEqual([16, 4]);
  expect(await readDiagnosis(here.db.pool, here.run, asOf)).toMatchObject({ pendingSteps: 2 });
  await measureSteps(ports(), here.run, asOf, steps);
  const { readings: found } = await readDiagnosis(here.db.pool, here.run, asOf);
  expect(found[0].values).toMatchObject({ comparableGroups: 10, zeroVarianceGroups: 4 });
});

const sequencePosition = (events: readonly { readonly position: number }[]) => events.at(-1)!.position + 1;

it('gives the same figures from segments and from the log', async () => {
  await send([...stepOf(0, 2), { type: 'run.ended', at: AT }]);
  await diagnoseRun(ports(), here.run, true);
  const fromLog = (await readings())['zero-variance-groups'];
  expect(measured[0].source.kind).toBe('segments'); // the end of a run is a cut
  const [step] = await stepRevisions(here.db.pool, here.run, Number.MAX_SAFE_INTEGER);
  await here.db.pool.query('delete from diagnostic_figures where run_id = $1', [here.run]);
  await forgetSegments(here.db.pool, here.run);
  await measureSteps(ports(), here.run, Number.MAX_SAFE_INTEGER, [step]);
  expect(measured[1].source.kind).toBe('batch');
  expect((await readDiagnosis(here.db.pool, here.run, Number.MAX_SAFE_INTEGER)).readings[0]).toEqual(fromLog);
});

it('closes what a rewind superseded, and speaks of the new steps', async () => {
  for (const step of [0, 1, 2]) await advance(stepOf(step, 4));
  expect(edges.map(({ edge }) => edge)).toEqual(['opened']);
  const { 'zero-variance-groups': reading } = await advance([
    { type: 'run.rewound', at: AT, toTrainingStep: 0 },
    ...stepOf(1, 0, 'again-'),
  ]);
  expect(reading.values).toMatchObject({ comparableGroups: 16, zeroVarianceGroups: 4 });
  expect(edges.map(({ edge }) => edge)).toEqual(['opened', 'closed']);
});

it('is equal after a rebuild, and raises nothing twice', async () => {
  for (const step of [0, 1, 2]) await advance(stepOf(step, 4));
  const before = await readings();
  await rebuild(here.db.pool, here.store, here.run);
  await here.db.pool.query('delete from diagnostic_figures where run_id = $1', [here.run]);
  await diagnoseRun(ports(), here.run, true);
  const after = await readings();
  expect(after['zero-variance-groups']).toEqual(before['zero-variance-groups']);
  expect(edges).toHaveLength(1);
});

/** A checkpoint that lies `step` steps along one direction. */
const checkpointOf = (step: number, more: object = {}) => ({
  type: 'checkpoint.recorded',
  at: AT,
  trainingStep: step,
  sketch: [step, 2 * step, 1, -step],
  tensors: [{ name: 'a', size: 3 }, { name: 'b', size: 1 }], // prettier-ignore
  ...more,
});

it('extrapolates the parameters of a run that logged checkpoints, and says how far that is trusted', async () => {
  const steps = Array.from({ length: 12 }, (_, step) => step);
  await send(steps.flatMap((step) => [...stepOf(step, 0), checkpointOf(step)]));
  await diagnoseRun(ports(), here.run, true);
  const { 'relex-extrapolation': relex, 'path-straightness': path } = await readings();
  expect(relex.sentence).toBe(
    "> 99.9 % of the parameters' way lies along one line (a random walk: 81 %), which fits with R² 1, held-back checkpoints with R² 1: trusted up to training step 90",
  );
  expect(relex.values).toMatchObject({ linear: 1, trustedUpTo: 90 });
  expect(Object.keys((relex.detail as { mixWeights: object }).mixWeights)).toEqual(['a', 'b']);
  expect(path.steps.map(({ values }) => values['stepNorm'])).toEqual([null, ...steps.slice(1).map(() => Math.sqrt(6))]);
  expect(path.sentence).toBe('12 checkpoints: the straightness needs 21 checkpoints that differ');
});

it('measures a late checkpoint alone, and what came after it again', async () => {
  await advance([...stepOf(0, 0), checkpointOf(0), ...stepOf(1, 0), ...stepOf(2, 0), checkpointOf(2)]);
  const before = await readings();
  measured = [];
  const after = await advance([checkpointOf(1, { sketch: [5, 5, 5, 5] })]);
  measured.sort((a, b) => a.trainingStep - b.trainingStep);
  expect(measured.map(({ trainingStep, diagnostics }) => [trainingStep, diagnostics])).toEqual(
    [1, 2].map((step) => [step, ['path-straightness', 'relex-extrapolation']]),
  );
  expect(after['zero-variance-groups']).toEqual(before['zero-variance-groups']);
  const [, first, second] = after['path-straightness'].steps.map(({ values }) => values['stepNorm']);
  expect(first).toBeCloseTo(Math.sqrt(91), 9); // (0, 0, 1, 0) to (5, 5, 5, 5)
  expect(second).toBeCloseTo(Math.sqrt(75), 9); // to (2, 4, 1, -2)
});

it('holds no checkpoint against one of another projection, nor against one that could not be measured', async () => {
  const found = await advance([
    ...[0, 1, 2, 3].flatMap((step) => stepOf(step, 0)),
    checkpointOf(0, { sketch: [null, 0, 0, 0] }),
    checkpointOf(1, { projection: { seed: 1 } }),
    checkpointOf(2, { projection: { seed: 2 } }),
    checkpointOf(3, { projection: { seed: 1 } }),
  ]);
  expect(found['path-straightness'].steps.map(({ trainingStep }) => trainingStep)).toEqual([1, 3]);
  expect(found['path-straightness'].sentence).toMatch(/; 2 checkpoints are left out/);
  expect(found['relex-extrapolation'].sentence).toMatch(/^2 checkpoints: .*; 2 checkpoints are left out/);
});

it('forgets the checkpoints that a rewind superseded, and finds them again as of then', async () => {
  await advance([0, 1, 2].flatMap((step) => [...stepOf(step, 0), checkpointOf(step)]));
  const asOf = sequencePosition(await readEvents(here.db.pool, here.run, 0));
  const found = await advance(
    [
      { type: 'run.rewound', at: AT, toTrainingStep: 0 },
      ...stepOf(1, 0, 'again-'),
      checkpointOf(1, { sketch: [0, 0, 1, 3] }),
    ],
    true,
  );
  const norms = (reading: Diagnosis) => reading.steps.map(({ values }) => values['stepNorm']);
  expect(norms(found['path-straightness'])).toEqual([null, 3]);
  const then = await readDiagnosis(here.db.pool, here.run, asOf);
  expect(norms(then.readings.find(({ id }) => id === 'path-straightness')!)).toEqual([
    null,
    Math.sqrt(6),
    Math.sqrt(6),
  ]);
});

it('reads checkpoints no further back than it must, in whatever order they are asked for', async () => {
  const steps = Array.from({ length: 70 }, (_, step) => step);
  await send(
    steps.map((step) => checkpointOf(step, step === 0 ? {} : { sketch: [step, 2 * step, 1 + (step % 2), 0] })),
  );
  const head = Number.MAX_SAFE_INTEGER;
  const inTurn = await CheckpointWindow.of(here.db.pool, here.run, head);
  const all = [];
  for (const step of steps) all.push(await inTurn.at(step));
  expect(all[69]!.earlier.map(({ trainingStep }) => trainingStep)).toEqual([0, ...steps.slice(19, 69)]);
  expect(all[69]!.tensors).toEqual({ a: Float32Array.of(69, 138, 2), b: Float32Array.of(0) });
  const anyhow = await CheckpointWindow.of(here.db.pool, here.run, head);
  const shuffled = steps.toSorted((a, b) => ((a * 37) % 70) - ((b * 37) % 70));
  const found = await Promise.all(shuffled.map(async (step) => [step, await anyhow.at(step)] as const));
  for (const [step, checkpoint] of found) expect(checkpoint).toEqual(all[step]);
  expect(await anyhow.at(70)).toBeNull();
});

it('lets a diagnostic fail alone, with its reason, and measures it no second time', async () => {
  const broken = DIAGNOSTICS.map((diagnostic) => {
    const fails = () => {
      throw new TypeError('cannot do this');
    };
    if (diagnostic.id === 'in-group-spread') return { ...diagnostic, measure: fails };
    return diagnostic.id === 'pass-at-k' ? { ...diagnostic, read: fails } : diagnostic;
  });
  const failing = { ...ports(), catalogue: broken, measure: (task: MeasureTask) => (measured.push(...task.steps), measureTask(here.store, task, broken)) }; // prettier-ignore
  await send([...stepOf(0, 2), ...stepOf(1, 2)]);
  await diagnoseRun(failing, here.run, true);
  const found = await readings();
  expect(found['zero-variance-groups'].values).toMatchObject({ comparableGroups: 16 });
  expect(found['in-group-spread']).toMatchObject({
    sentence: 'cannot be said: cannot do this',
    failed: [{ trainingSteps: 2, text: 'cannot do this' }],
  });
  expect(found['pass-at-k']).toMatchObject({ sentence: 'cannot be said: cannot do this', values: {} });
  await diagnoseRun(failing, here.run, true);
  expect(measured).toHaveLength(2);
});

it('finds a run that fell silent after its last training step was passed over', async () => {
  const { pool } = here.db;
  const found = async () => (await runsToDiagnose(pool)).filter(({ runId }) => runId === here.run);
  const passes = async () => {
    await pool.query(`update run_progress set last_event_at = now() - interval '11 seconds' where run_id = $1`, [here.run]); // prettier-ignore
    await pool.query(`update diagnosis set made_at = now() - interval '11 seconds' where run_id = $1`, [here.run]);
  };
  await send(stepOf(0, 0).slice(0, -1).map((event) => ({ ...event, at: new Date().toISOString() }))); // prettier-ignore
  await diagnoseRun(ports(), here.run, false);
  expect(await found()).toEqual([]); // more of the step may come
  await passes();
  expect(await found()).toEqual([{ runId: here.run, isFinal: true }]);
  await diagnoseRun(ports(), here.run, true);
  expect((await readings())['zero-variance-groups'].steps).toHaveLength(1);
  await passes();
  expect(await found()).toEqual([]);
});

describe('settings', () => {
  const set = (changes: SettingChanges) => changeSettings(here.db.pool, here.run, changes, null);

  it('read a run again at once, by other limits and the same figures, and its alerts follow', async () => {
    for (const step of [0, 1, 2]) await advance(stepOf(step, 3));
    expect(edges).toEqual([]);
    const measuredBefore = measured.length;
    expect(await set({ 'zero-variance-groups': { warnFraction: 0.3 } })).toEqual({
      version: 1,
      settings: { 'zero-variance-groups': { warnFraction: 0.3 } },
    });
    await here.db.pool.query('update diagnosis set seconds = 60, made_at = now() where run_id = $1', [here.run]);
    expect((await runsToDiagnose(here.db.pool)).map(({ runId }) => runId)).toContain(here.run);
    await diagnoseRun(ports(), here.run, false);
    expect((await runsToDiagnose(here.db.pool)).map(({ runId }) => runId)).not.toContain(here.run);
    expect(edges).toMatchObject([{ edge: 'opened', rule: 'wasteful', trainingStep: 2 }]);
    expect((await readings())['zero-variance-groups'].settings).toMatchObject({
      warnFraction: 0.3,
      criticalFraction: 0.8,
    });

    await set({ 'zero-variance-groups': { warnFraction: null } });
    await diagnoseRun(ports(), here.run, false);
    await set({ 'zero-variance-groups': { warnFraction: 0.3, hold: 3 } });
    await diagnoseRun(ports(), here.run, false);
    expect(edges.map(({ edge }) => edge)).toEqual(['opened', 'closed', 'opened']);
    await set({ 'zero-variance-groups': { hold: 4 } });
    await diagnoseRun(ports(), here.run, false);
    expect(edges.map(({ edge }) => edge)).toEqual(['opened', 'closed', 'opened', 'closed']);
    expect(measured).toHaveLength(measuredBefore);
  });

  it('of what is measured measure again, and what was measured before is found again', async () => {
    await advance(stepOf(0, 2));
    const usual = (await readings())['failure-clusters'];
    await set({ 'failure-clusters': { gram: 1 } });
    await diagnoseRun(ports(), here.run, true);
    expect(measured.map(({ diagnostics }) => diagnostics.length > 1 ? 'all' : diagnostics[0])).toEqual(['all', 'failure-clusters']); // prettier-ignore
    expect((await readings())['failure-clusters'].settings).toMatchObject({ gram: 1 });
    await set({ 'failure-clusters': null });
    await diagnoseRun(ports(), here.run, true);
    expect(measured).toHaveLength(2);
    expect((await readings())['failure-clusters']).toEqual(usual);
  });

  it('are changed as a whole or not at all, and by nobody under another’s hands', async () => {
    await expect(
      set({ 'zero-variance-groups': { warnFraction: 0.3 }, 'entropy-trend': { targetEntropy: -1 } }),
    ).rejects.toThrow('entropy-trend.targetEntropy: Too small: expected number to be >0; found -1');
    expect(await runSettings(here.db.pool, here.run)).toEqual({ version: 0, settings: {} });
    const names = ['baselineSteps', 'trendSteps', 'riseFactor', 'targetEntropy'];
    await Promise.all(names.map((name, i) => set({ 'entropy-trend': { [name]: i + 7 } })));
    const { version, settings } = await runSettings(here.db.pool, here.run);
    expect([version, settings['entropy-trend']]).toEqual([
      4,
      Object.fromEntries(names.map((name, i) => [name, i + 7])),
    ]);
    expect((await set({ 'entropy-trend': { trendSteps: 8 } })).version).toBe(4); // nothing changed
  });

  it('leave a diagnosis that was made with older ones without a say', async () => {
    for (const step of [0, 1, 2]) await advance(stepOf(step, 3));
    const older = await runSettings(here.db.pool, here.run);
    await set({ 'zero-variance-groups': { warnFraction: 0.3 } });
    await diagnoseRun(ports(), here.run, false);
    const stale = await readDiagnosis(here.db.pool, here.run, Number.MAX_SAFE_INTEGER, { settings: older });
    expect(await raiseAlerts(here.db.pool, here.run, stale)).toEqual([]);
    await keepDiagnosis(here.db.pool, here.run, stale, 0);
    expect((await readings())['zero-variance-groups'].settings).toMatchObject({ warnFraction: 0.3 });
  });
});

it('opens an alert again where the steps after a rewind show the same', async () => {
  for (const step of [0, 1, 2]) await advance(stepOf(step, 4));
  await advance([{ type: 'run.rewound', at: AT, toTrainingStep: 0 }, ...stepOf(1, 0, 'b')]);
  await advance([{ type: 'run.rewound', at: AT, toTrainingStep: 0 }, ...stepOf(1, 4, 'c'), ...stepOf(2, 4, 'c')]);
  expect(edges.map(({ edge, trainingStep }) => [edge, trainingStep])).toMatchObject([['opened', 2], ['closed', 1], ['opened', 2]]); // prettier-ignore
});

it('finds the runs that advanced since', async () => {
  const isWaiting = async () => (await runsToDiagnose(here.db.pool)).some(({ runId }) => runId === here.run);
  // events of ten seconds ago are those of a run that is silent
  const now = () => ({ at: new Date().toISOString() });
  await send(stepOf(0, 0).map((event) => ({ ...event, ...now() })));
  expect(await isWaiting()).toBe(true);
  await diagnoseRun(ports(), here.run, true);
  expect(await isWaiting()).toBe(false);
  await send(stepOf(1, 0).map((event) => ({ ...event, ...now() })));
  await here.db.pool.query('update diagnosis set seconds = 60, made_at = now() where run_id = $1', [here.run]);
  expect(await isWaiting()).toBe(false); // it rests nine times as long as it took
  await here.db.pool.query(`update diagnosis set made_at = now() - interval '541 seconds' where run_id = $1`, [
    here.run,
  ]);
  expect(await isWaiting()).toBe(true);

  await here.db.pool.query('update diagnosis set made_at = now() where run_id = $1', [here.run]);
  expect(await isWaiting()).toBe(false);
  await send([{ type: 'run.ended', at: AT }]);
  expect(await isWaiting()).toBe(true); // nobody writes to it any more
});
