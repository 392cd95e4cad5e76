import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Diagnosis } from '#lib/diagnostics';
import { EventLog, readEvents, sealBatch } from '#lib/event-log';
import { Projector, rebuild } from '#lib/projection';
import { openSegmentStore, type SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import type { AlertEdge } from './alerts.js';
import { diagnoseRun, measureSteps, readDiagnosis } from './diagnose-run.js';
import { measureTask, type MeasureTask } from './measure-step.js';
import { runsToDiagnose } from './runs-to-diagnose.js';
import { stepRevisions } from './step-revisions.js';

const AT = new Date().toISOString();

let db: TestDatabase;
let folder: string;
let store: SegmentStore;
let log: EventLog;
let run: string;
let sequence: number;
/** every step that was really measured */
let measured: MeasureTask[];
let edges: AlertEdge[];

beforeAll(async () => {
  db = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'recredit-diagnosis-'));
  store = await openSegmentStore(pathToFileURL(folder).href);
  log = new EventLog(db.pool, { notify: false });
});

afterAll(async () => {
  await log?.close();
  await db?.drop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  run = await aRun(db.ownerPool, { project: await aProject(db.ownerPool) });
  sequence = 0;
  measured = [];
  edges = [];
});

/** A training step of eight groups of two; in `silent` of them all outcomes are equal. */
const stepOf = (step: number, silent: number, prefix = '') => [
  ...[0, 1, 2, 3, 4, 5, 6, 7].flatMap((group) =>
    [0, 1].map((i) => ({
      type: 'trajectory.recorded',
      at: AT,
      id: `${prefix}t${step}-${group}-${i}`,
      group: `g${group}`,
      trainingStep: step,
      outcomeReward: group < silent ? 0 : i,
      success: group >= silent && i === 1,
      turns: [{ state: 's', action: 'a' }],
    })),
  ),
  { type: 'trainingStep.recorded', at: AT, trainingStep: step, metrics: { entropy: 2 - step / 10 } },
];

async function send(events: readonly object[]): Promise<void> {
  const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const batch = await sealBatch({ producerId: 'p', epoch: 0, sequence: sequence++, ndjson, eventCount: events.length });
  await log.append(run, batch);
}

const projectAll = () => new Projector({ pool: db.pool, store }).projectRun(run);

const ports = () => ({
  pool: db.pool,
  measure: (task: MeasureTask) => {
    measured.push(task);
    return measureTask(store, task);
  },
  alerted: async (found: readonly AlertEdge[]) => void edges.push(...found),
});

/** Sends, projects and diagnoses. @returns the readings by diagnostic */
async function advance(events: readonly object[], isFinal = false): Promise<Record<string, Diagnosis>> {
  await send(events);
  await projectAll();
  await diagnoseRun(ports(), run, isFinal);
  return readings();
}

async function readings(): Promise<Record<string, Diagnosis>> {
  const { rows } = await db.pool.query('select reading, steps from diagnostic_reading where run_id = $1', [run]);
  return Object.fromEntries(rows.map(({ reading, steps }) => [reading.id, { ...reading, steps }]));
}

const alertEvents = async () =>
  (await readEvents(db.pool, run, 0)).map(({ event }) => event).filter(({ type }) => type.startsWith('alert.'));

it('measures a training step once, when it is complete', async () => {
  const first = await advance([...stepOf(0, 2), ...stepOf(1, 6).slice(0, 4)]);
  expect(first['zero-variance-groups'].values).toMatchObject({ comparableGroups: 8, zeroVarianceGroups: 2 });
  expect(measured.map(({ trainingStep }) => trainingStep)).toEqual([0]);

  const second = await advance(stepOf(1, 6).slice(4));
  expect(second['zero-variance-groups'].values).toMatchObject({ comparableGroups: 16, zeroVarianceGroups: 8 });
  expect(second['entropy-trend'].steps.map(({ values }) => values['entropy'])).toEqual([2, 1.9]);
  expect(measured.map(({ trainingStep }) => trainingStep)).toEqual([0, 1]);

  await diagnoseRun(ports(), run, true);
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
  const { rows } = await db.pool.query('select opened_step, closed_step from alert where run_id = $1', [run]);
  expect(rows).toEqual([{ opened_step: 2, closed_step: 8 }]);
});

it('raises each alert once when two workers diagnose at the same time', async () => {
  await send([0, 1, 2].flatMap((step) => stepOf(step, 4)));
  await projectAll();
  await Promise.all([1, 2, 3, 4].map(() => diagnoseRun(ports(), run, true)));
  expect(edges).toHaveLength(1);
  expect(await alertEvents()).toHaveLength(1);
});

it('says of an old run what it would have said then', async () => {
  for (const step of [0, 1, 2]) await advance(stepOf(step, 4));
  const then = await readings();
  const { rows } = await db.pool.query('select as_of::float8 as "asOf" from diagnosis where run_id = $1', [run]);
  await advance(stepOf(3, 8));
  const again = await readDiagnosis(db.pool, run, rows[0].asOf);
  expect(Object.fromEntries(again.readings.map((reading) => [reading.id, reading]))).toEqual(then);
  expect(again.pendingSteps).toBe(0);
});

it('measures as of any position, as if the rest had never come', async () => {
  await send([...stepOf(0, 2), ...stepOf(1, 2).slice(0, 4)]);
  const asOf = sequencePosition(await readEvents(db.pool, run, 0));
  await send(stepOf(1, 2).slice(4));
  await projectAll();
  const steps = await stepRevisions(db.pool, run, asOf);
  expect(steps.map(({ trajectoryCount }) => trajectoryCount)).toEqual([16, 4]);
  expect(await readDiagnosis(db.pool, run, asOf)).toMatchObject({ pendingSteps: 2 });
  await measureSteps(ports(), run, asOf, steps);
  const { readings: found } = await readDiagnosis(db.pool, run, asOf);
  expect(found[0].values).toMatchObject({ comparableGroups: 10, zeroVarianceGroups: 4 });
});

const sequencePosition = (events: readonly { readonly position: number }[]) => events.at(-1)!.position + 1;

it('gives the same figures from segments and from the log', async () => {
  await send([...stepOf(0, 2), { type: 'run.ended', at: AT }]);
  await projectAll();
  await diagnoseRun(ports(), run, true);
  const fromLog = (await readings())['zero-variance-groups'];
  expect(measured[0].source.kind).toBe('segments'); // the end of a run is a cut
  const [step] = await stepRevisions(db.pool, run, Number.MAX_SAFE_INTEGER);
  await db.pool.query('delete from diagnostic_figures where run_id = $1', [run]);
  await db.pool.query('delete from segment_step where run_id = $1', [run]);
  await measureSteps(ports(), run, Number.MAX_SAFE_INTEGER, [step]);
  expect(measured[1].source.kind).toBe('batch');
  expect((await readDiagnosis(db.pool, run, Number.MAX_SAFE_INTEGER)).readings[0]).toEqual(fromLog);
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
  await rebuild(db.pool, store, run);
  await db.pool.query('delete from diagnostic_figures where run_id = $1', [run]);
  await diagnoseRun(ports(), run, true);
  const after = await readings();
  expect(after['zero-variance-groups']).toEqual(before['zero-variance-groups']);
  expect(edges).toHaveLength(1);
});

it('finds the runs that advanced since', async () => {
  const isWaiting = async () => (await runsToDiagnose(db.pool)).some(({ runId }) => runId === run);
  await send(stepOf(0, 0));
  await projectAll();
  expect(await isWaiting()).toBe(true);
  await diagnoseRun(ports(), run, true);
  expect(await isWaiting()).toBe(false);
  await send(stepOf(1, 0));
  await projectAll();
  await db.pool.query('update diagnosis set seconds = 60, made_at = now() where run_id = $1', [run]);
  expect(await isWaiting()).toBe(false); // it rests nine times as long as it took
  await db.pool.query(`update diagnosis set made_at = now() - interval '541 seconds' where run_id = $1`, [run]);
  expect(await isWaiting()).toBe(true);

  await db.pool.query('update diagnosis set made_at = now() where run_id = $1', [run]);
  expect(await isWaiting()).toBe(false);
  await send([{ type: 'run.ended', at: AT }]);
  await projectAll();
  expect(await isWaiting()).toBe(true); // nobody writes to it any more
});
