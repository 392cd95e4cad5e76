import { DIAGNOSTICS } from '#lib/diagnostics';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { diagnoseRun, readDiagnosis } from './diagnose-run.js';
import { FigureMemory } from './figure-memory.js';
import { groupsOfTwo } from './groups-of-two.fixture.js';
import { keptReadings } from './kept-readings.fixture.js';
import { measureTask, type MeasureTask } from './measure-step.js';
import { changeSettings } from './settings.js';
import { stepRevisions } from './step-revisions.js';

const AT = '2026-11-21T12:00:00Z';
/** One of each kind: means of steps, tables over all steps, a trend, tasks that come again, and checkpoints. */
const MEMBERS = ['zero-variance-groups', 'failure-clusters', 'entropy-trend', 'task-forgetting', 'path-straightness'];
const catalogue = MEMBERS.map((member) => DIAGNOSTICS.find(({ id }) => id === member)!);

const here = recordedRun();
const { newRun, send } = here;

const stepOf = (step: number, silent: number, prefix = '') => [
  ...groupsOfTwo(step, silent, prefix, (group, i) => ({
    at: AT,
    turns: [{ state: `room ${(group * step) % 3}`, action: `go ${(group + step * i) % 4}` }],
  })),
  { type: 'trainingStep.recorded', at: AT, trainingStep: step, metrics: { entropy: 2 - step / 10 + silent / 7 } },
  { type: 'checkpoint.recorded', at: AT, trainingStep: step, sketch: [step, silent * step, 1, -step] },
];

const judged = (step: number) => ({
  type: 'annotation.recorded',
  at: AT,
  trajectory: `t${step}-3-1`,
  annotator: 'judge',
  signals: { outcomeReward: 0 },
});

const diagnose = (memory: FigureMemory, isFinal = false) =>
  diagnoseRun(
    { pool: here.db.pool, measure: (task: MeasureTask) => measureTask(here.store, task, catalogue), alerted: async () => {}, catalogue, memory }, // prettier-ignore
    here.run,
    isFinal,
  );

async function kept() {
  const { rows } = await here.db.pool.query(
    `select as_of::float8 as "asOf", settings_version as version, pending_steps as pending from diagnosis where run_id = $1`,
    [here.run],
  );
  const readings = await keptReadings(here.db.pool, here.run);
  return Object.values(readings).map(({ steps, ...reading }) => ({
    diagnostic: reading.id,
    reading,
    steps,
    ...rows[0],
  }));
}

/** The diagnosis of now, by somebody who remembers nothing. */
async function fromTheBeginning([{ asOf }]: readonly { readonly asOf: number }[]) {
  const { readings, settingsVersion, pendingSteps } = await readDiagnosis(here.db.pool, here.run, asOf, { catalogue });
  return readings.map(({ steps, ...reading }) => {
    const row = { diagnostic: reading.id, reading, steps, asOf, version: settingsVersion, pending: pendingSteps };
    return JSON.parse(JSON.stringify(row)) as unknown;
  });
}

/** What happens between two diagnoses. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('step' as const), silent: fc.integer({ min: 0, max: 8 }) }) },
  fc.record({ kind: fc.constant('judged' as const), step: fc.nat(6) }),
  fc.record({ kind: fc.constant('rewound' as const), step: fc.nat(4) }),
  fc.record({ kind: fc.constant('set' as const), value: fc.integer({ min: 1, max: 4 }) }),
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('diagnosed' as const) }) },
  fc.record({ kind: fc.constant('killed' as const) }),
);

/** Of figures as JSON, a few training steps. */
const ROOM = 12_000;
const step = (silent: number) => ({ kind: 'step', silent }) as const;
const diagnosed = { kind: 'diagnosed' } as const;

it('says after any happenings what it would say from the beginning', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: 16 }), async (happenings) => {
      await newRun();
      // so small that in a longer run some steps have no room
      let memory = new FigureMemory(ROOM);
      let [next, tries] = [0, 0];
      for (const happened of [...happenings, { kind: 'diagnosed' as const }]) {
        if (happened.kind === 'step') await send(stepOf(next++, happened.silent, tries === 0 ? '' : `${tries}-`));
        if (happened.kind === 'judged' && happened.step < next && tries === 0) await send([judged(happened.step)]);
        if (happened.kind === 'rewound' && happened.step < next) {
          await send([{ type: 'run.rewound', at: AT, toTrainingStep: happened.step }]);
          [next, tries] = [happened.step + 1, tries + 1];
        }
        if (happened.kind === 'set') {
          const settings = { 'failure-clusters': { gram: happened.value }, 'zero-variance-groups': { hold: happened.value } }; // prettier-ignore
          await changeSettings(here.db.pool, here.run, settings, null);
        }
        if (happened.kind === 'killed') memory = new FigureMemory(ROOM);
        if (happened.kind !== 'diagnosed') continue;
        await diagnose(memory);
        const found = await kept();
        expect(found).toEqual(await fromTheBeginning(found));
      }
    }),
    {
      numRuns: 8,
      examples: [
        [
          [
            step(2),
            diagnosed,
            { kind: 'judged', step: 0 },
            diagnosed,
            { kind: 'rewound', step: 0 },
            step(8),
            diagnosed,
          ],
        ],
        [[step(2), step(5), diagnosed, { kind: 'rewound', step: 0 }, step(8), diagnosed, { kind: 'set', value: 1 }]],
      ],
    },
  );
});

it('says and warns of a run the same, however often it was diagnosed meanwhile', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ silent: fc.constantFrom(0, 5, 8), isDiagnosed: fc.boolean() }), { minLength: 6, maxLength: 14 }), // prettier-ignore
      async (steps) => {
        const outcomes = [];
        for (const meanwhile of [true, false]) {
          await newRun();
          const memory = new FigureMemory();
          for (const [step, { silent, isDiagnosed }] of steps.entries()) {
            await send(stepOf(step, silent));
            if (meanwhile && isDiagnosed) await diagnose(memory);
          }
          await diagnose(memory, true);
          const { rows: alerts } = await here.db.pool.query(
            `select diagnostic, rule, level, says, saw, opened_step, closed_step from alert where run_id = $1
             order by diagnostic, rule, opened_step`,
            [here.run],
          );
          outcomes.push({ alerts, readings: (await kept()).map(({ asOf: _asOf, ...reading }) => reading) });
        }
        expect(outcomes[0]).toEqual(outcomes[1]);
      },
    ),
    { numRuns: 4 },
  );
});

it('reads no figures a second time', async () => {
  const memory = new FigureMemory();
  const query = vi.spyOn(here.db.pool, 'query');
  for (const step of [0, 1, 2]) {
    await send(stepOf(step, 2));
    await diagnose(memory);
  }
  await send([judged(1)]);
  await diagnose(memory);
  await diagnose(memory);
  await changeSettings(here.db.pool, here.run, { 'failure-clusters': { gram: 1 } }, null);
  await diagnose(memory);
  const statements = query.mock.calls as unknown as readonly [sql: unknown, values: readonly unknown[]][];
  const asked = statements.filter(([sql]) => String(sql).includes('outcomes as packed')).map(([, values]) => values[1]);
  query.mockRestore();
  expect(asked).toEqual([[0], [1], [2], [1], [0, 1, 2]]);
});

it('forgets a run that nobody asks about any more', async () => {
  let now = 0;
  const memory = new FigureMemory(undefined, () => now);
  await send(stepOf(0, 2));
  await diagnose(memory);
  const steps = await stepRevisions(here.db.pool, here.run, Number.MAX_SAFE_INTEGER);
  const unknown = () => memory.unknown(here.run, steps, { catalogue, settings: {} }).length;
  expect(unknown()).toBe(0);
  now += 9 * 60_000;
  expect(unknown()).toBe(0);
  now += 11 * 60_000;
  expect(unknown()).toBe(1);
});

it('rests for what reading took, not for what was measured once', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const measure = (task: MeasureTask) => {
    now += 60_000;
    return measureTask(here.store, task, catalogue);
  };
  await send(stepOf(0, 2));
  await diagnoseRun({ pool: here.db.pool, measure, alerted: async () => void (now += 500), catalogue }, here.run, true);
  clock.mockRestore();
  const { rows } = await here.db.pool.query('select seconds from diagnosis where run_id = $1', [here.run]);
  expect(rows).toEqual([{ seconds: 0.5 }]);
});
