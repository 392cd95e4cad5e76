import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { countedReads } from '../../../test/support/counted-reads.js';
import { forgetSegments } from '../../../test/support/forget-segments.js';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { measureSteps } from './diagnose-run.js';
import { measureTask, type MeasureTask } from './measure-step.js';
import { seekTask } from './nearest-task.js';
import { unpackOutcomes } from './packed-outcomes.js';
import { metricsOf, stepRevisions } from './step-revisions.js';

const AT = '2026-11-21T12:00:00Z';
const HEAD = Number.MAX_SAFE_INTEGER;

const here = recordedRun();
const { send } = here;

/** Two groups of two, who do not do the same on any two training steps. */
const stepOf = (trainingStep: number, prefix = '') =>
  [0, 1, 2, 3].map((i) => ({
    type: 'trajectory.recorded',
    at: AT,
    id: `${prefix}t${trainingStep}-${i}`,
    group: `g${i >> 1}`,
    trainingStep,
    outcomeReward: i % 2,
    turns: [{ state: `room ${trainingStep}`, action: `go ${i}` }, { state: `hall ${i}`, action: 'look' }], // prettier-ignore
  }));

const judged = (trainingStep: number, prefix = '') => ({
  type: 'annotation.recorded',
  at: AT,
  trajectory: `${prefix}t${trainingStep}-1`,
  annotator: 'judge',
  turns: [{ turn: 0, signals: { processReward: trainingStep, humanLabel: 1 } }],
});

/** Measures all that is not known. @returns the stretches, and which files were read how often */
async function measureAll(concurrency: number) {
  const { store, read } = countedReads(here.store);
  const stretches: number[][] = [];
  const measure = (task: MeasureTask) => {
    stretches.push(task.steps.map(({ trainingStep }) => trainingStep));
    return measureTask(store, task);
  };
  const ports = { pool: here.db.pool, measure, alerted: async () => {}, concurrency };
  await measureSteps(ports, here.run, HEAD, await stepRevisions(here.db.pool, here.run, HEAD));
  return { stretches, read: Object.values(read) };
}

/** What is known, and then nothing. */
async function takeFigures() {
  const { rows } = await here.db.pool.query(
    `delete from diagnostic_figures where run_id = $1
     returning training_step, revision, members, outcomes`,
    [here.run],
  );
  return rows
    .map(({ outcomes, ...row }) => JSON.stringify({ ...row, outcomes: unpackOutcomes(outcomes).outcomes }))
    .toSorted();
}

it('opens a segment once for all training steps that lie in it', async () => {
  await send([0, 1, 2, 3, 4, 5].flatMap((step) => stepOf(step)));
  await send([judged(2), judged(4), { type: 'run.ended', at: AT }]);
  expect(await measureAll(1)).toEqual({ stretches: [[0, 1, 2, 3, 4, 5]], read: [1, 1] });
  const once = await takeFigures();
  // who has several threads shares the steps among them
  const { stretches, read } = await measureAll(4);
  expect(stretches.toSorted(([a], [b]) => a - b)).toEqual([[0, 1], [2, 3], [4, 5]]); // prettier-ignore
  expect(read).toEqual([3, 3]);
  expect(await takeFigures()).toEqual(once);

  await forgetSegments(here.db.pool, here.run);
  expect((await measureAll(1)).stretches).toEqual([0, 1, 2, 3, 4, 5].map((step) => [step]));
  expect(await takeFigures()).toEqual(once);
});

it('opens a segment once where two training steps before and after it share it', async () => {
  await send([...stepOf(0), ...stepOf(1), { type: 'run.rewound', at: AT, toTrainingStep: 1 }]);
  await send([...stepOf(1, 'more-'), ...stepOf(2), judged(1), judged(1, 'more-'), { type: 'run.ended', at: AT }]);
  expect(await measureAll(1)).toEqual({ stretches: [[0, 1, 2]], read: [1, 1, 1, 1] }); // prettier-ignore
  const figures = await takeFigures();
  await forgetSegments(here.db.pool, here.run);
  await measureAll(1);
  expect(await takeFigures()).toEqual(figures);
});

it('measures what came late alone', async () => {
  await send([...[0, 1, 2, 3].flatMap((step) => stepOf(step)), { type: 'run.ended', at: AT }]);
  await measureAll(1);
  await send([judged(1), judged(3)]);
  expect((await measureAll(1)).stretches).toEqual([[1, 3]]);
});

it('says of a run that has tokens that it has some', async () => {
  const told: boolean[] = [];
  const measure = (task: MeasureTask) => (told.push(task.hasTokens), measureTask(here.store, task));
  const ports = { pool: here.db.pool, measure, alerted: async () => {}, concurrency: 1 };
  await send(stepOf(0));
  await measureSteps(ports, here.run, HEAD, await stepRevisions(here.db.pool, here.run, HEAD));
  const turns = [{ state: 's', action: 'a', tokens: { logprob: [-1] } }];
  await send([{ type: 'trajectory.recorded', at: AT, id: 'speaking', group: 'g', trainingStep: 1, turns }]);
  await measureSteps(ports, here.run, HEAD, await stepRevisions(here.db.pool, here.run, HEAD));
  expect(told).toEqual([false, true]);
});

it('names the file that is damaged', async () => {
  await send([...stepOf(0), { type: 'run.ended', at: AT }]);
  const keys = await here.store.list('segments/');
  const key = keys.find((each) => each.includes(here.run) && !each.includes('text'))!;
  const bytes = Uint8Array.from(await here.store.get(key));
  bytes[bytes.length >> 1] ^= 1;
  await here.store.put(key, bytes);
  await expect(measureAll(1)).rejects.toMatchObject({
    code: 'segment.damaged',
    message: expect.stringMatching(`^${key} and .*its checksum does not agree with its bytes`),
  });
});

it('reads the metrics of the training steps that it measures', async () => {
  const recorded = (trainingStep: number, loss: number) => ({ type: 'trainingStep.recorded', at: AT, trainingStep, metrics: { loss, [`of${trainingStep}`]: 1 } }); // prettier-ignore
  await send([recorded(0, 3), recorded(1, 2), recorded(2, 1), recorded(2, 0.5)]);
  const metrics = (steps: number[]) => metricsOf(here.db.pool, here.run, HEAD, steps);
  expect(await metrics([2, 0])).toEqual(new Map([[0, { loss: 3, of0: 1 }], [2, { loss: 0.5, of2: 1 }]])); // prettier-ignore
  expect(await metrics([7])).toEqual(new Map());
});

it('says where a trajectory was looked for that is not there', async () => {
  const source = { kind: 'batch', trajectories: trajectoryBatch([]) } as const;
  await expect(seekTask(here.store, { source, trajectory: 'lost', turn: 0 })).rejects.toThrow(
    'the trajectory lost is not where its step is read',
  );
});
