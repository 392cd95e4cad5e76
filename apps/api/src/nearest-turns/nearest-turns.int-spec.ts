import { Learner } from '#lib/credit-learned';
import { findNearest, nearestTask, seekTask } from '#lib/diagnosis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const AT = '2026-11-21T12:00:00Z';

let api: TestApi;
let key: string;
let run: string;
const learner = new Learner('wasm');

beforeAll(async () => {
  api = await testApi();
  const project = await aProject(api.db.ownerPool, 'ours');
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'lamps' });
  await api.append(
    run,
    Array.from({ length: 12 }, (_, i) => ({
      type: 'trajectory.recorded',
      at: AT,
      id: `t${i}`,
      group: 'lamps',
      trainingStep: i % 2,
      outcomeReward: i % 3 === 0 ? 1 : 0,
      turns: [
        { state: 'a door', action: 'open it' },
        { state: `a lamp of kind ${i}`, action: `take lamp ${i}` },
      ],
    })),
  );
  await api.project(run);
});

afterAll(() => api?.close());

const INPUT = { run: 'lamps', trajectory: 't0', index: 1, k: 2 };
const FIELDS = `id run trajectory index k within asOf state failure by compared { failures successes }
  leftOut { unjudged incomparable } devices warnings finishedAt`;

async function started(input: object): Promise<string> {
  const { data, errors } = await api.ask(
    key,
    `mutation ($input: FindNearestTurnsInput!) { findNearestTurns(input: $input) { ${FIELDS} } }`,
    { input },
  );
  expect(errors).toBeUndefined();
  expect(data.findNearestTurns).toMatchObject({ run, state: 'RUNNING', by: null, compared: null, finishedAt: null });
  return data.findNearestTurns.id;
}

async function worked(input: object): Promise<string> {
  const id = await started(input);
  const ports = {
    pool: api.db.pool,
    seek: (task: Parameters<typeof seekTask>[1]) => seekTask(api.store, task),
    nearest: (task: Parameters<typeof nearestTask>[1]) => nearestTask(api.store, task, learner),
  };
  await findNearest(ports, id);
  return id;
}

const ask = async (id: string, fields: string) =>
  (await api.ask(key, `{ nearestTurns(id: "${id}") { ${fields} } }`)).data.nearestTurns;

it('says what was asked, what was found, and what stands there', async () => {
  const id = await worked(INPUT);
  const near = 'trajectory index trainingStep group outcomeReward similarity turn { index state action }';
  const found = await ask(id, `${FIELDS} turn { action } failures { ${near} } successes { ${near} }`);
  expect(found).toMatchObject({
    trajectory: 't0',
    index: 1,
    turn: { action: 'take lamp 0' },
    k: 2,
    within: 'RUN',
    asOf: 12,
    state: 'COMPLETED',
    failure: null,
    by: 'TEXT',
    compared: { failures: 8, successes: 3 },
    leftOut: { unjudged: 0, incomparable: 0 },
    devices: ['wasm'],
    warnings: [],
    finishedAt: expect.any(String),
  });
  expect([found.failures.length, found.successes.length]).toEqual([2, 2]);
  const [nearest] = found.successes;
  const kind = nearest.trajectory.slice(1);
  expect(nearest).toEqual({
    trajectory: `t${kind}`,
    index: 1,
    trainingStep: kind % 2,
    group: 'lamps',
    outcomeReward: 1,
    similarity: expect.any(Number),
    turn: { index: 1, state: `a lamp of kind ${kind}`, action: `take lamp ${kind}` },
  });
  expect(nearest.similarity).toBeGreaterThan(0.2);
  expect(nearest.similarity).toBeLessThan(1);
});

it('asks the database as often for many turns as for one', async () => {
  const counts: number[] = [];
  for (const k of [1, 3]) {
    const id = await worked({ ...INPUT, k });
    api.statements.length = 0;
    await ask(id, 'failures { turn { state } } successes { turn { action } }');
    counts.push(api.statements.length);
  }
  expect(counts[1]).toBe(counts[0]);
});

it('passes on where turns are sought', async () => {
  const id = await worked({ ...INPUT, within: 'GROUP', k: 50, asOf: 8 });
  expect(await ask(id, FIELDS)).toMatchObject({ within: 'GROUP', asOf: 8, compared: { failures: 2, successes: 1 } });
});

it.each([
  [{ ...INPUT, run: 'nobody' }, 'run.unknown', /nobody/],
  [{ ...INPUT, trajectory: 't99' }, 'trajectory.unknown', /no trajectory t99 in the run as of position 12/],
  [{ ...INPUT, index: 2 }, 'request.invalid', /turn: a whole number from 0 to 1 was wanted, found 2/],
  [{ ...INPUT, index: -1 }, 'request.invalid', /found -1/],
  [{ ...INPUT, k: 0 }, 'request.invalid', /k: a whole number from 1 to 50 was wanted, found 0/],
])('refuses %j', async (input, code, why) => {
  const { errors } = await api.ask(
    key,
    'mutation ($input: FindNearestTurnsInput!) { findNearestTurns(input: $input) { id } }',
    { input },
  );
  expect(errors).toMatchObject([{ message: expect.stringMatching(why), extensions: { code } }]);
});

it('has none of an unknown id', async () => expect(await ask('nothing', 'id')).toBeNull());
