import { afterAll, beforeAll, expect, it } from 'vitest';
import { testApi, type Answer, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

const AT = '2026-11-21T12:00:00Z';

let api: TestApi;
let key: string;
let project: string;
let run: string;

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool, 'ours');
  key = await api.key(project, 'read', 'analyze');
  run = await aRun(api.db.ownerPool, { project, name: 'planned' });
  for (const step of [0, 1, 2]) await api.append(run, aStep(step));
  await api.diagnose(run);
});

afterAll(() => api?.close());

/** Eight tasks of four rollouts, six of which nobody solves; on the others half do, by way of the door. */
function aStep(trainingStep: number): object[] {
  const trajectories = Array.from({ length: 32 }, (_, i) => {
    const [task, member] = [Math.floor(i / 4), i % 4];
    const isOpen = task >= 6;
    return {
      type: 'trajectory.recorded',
      at: AT,
      id: `t${trainingStep}-${task}-${member}`,
      group: `g${task}`,
      trainingStep,
      outcomeReward: isOpen && member < 2 ? 1 : 0,
      turns: [
        { state: 'hall', action: 'go' },
        ...(isOpen && member < 3 ? [{ state: 'door', action: `try ${member}` }] : []),
      ],
    };
  });
  return [...trajectories, { type: 'trainingStep.recorded', at: AT, trainingStep, metrics: { loss: 1 } }];
}

async function data(query: string, variables?: object): Promise<Answer['data']> {
  const { errors, data } = await api.ask(key, query, variables);
  expect({ errors, logged: api.logged.splice(0) }).toEqual({ errors: undefined, logged: [] });
  return data;
}

const FIELDS = `asOf pendingSteps plateauCauses
  health { level diagnostic rule says since remedy }
  bands { band tasks { task attempts successes learnability needsHint } }
  budget { rollouts shares { task rollouts lastRollouts } starts { task trajectory prefixTurns rollouts } }
  restarts { task trajectory prefixTurns success continuations reason prefix { index state action } }
  drop { task attempts why advice } failures { representative size share tasks fault }`;

it('says what is wrong, what to sample, where to start and what to drop', async () => {
  const { plan } = (await data(`{ run(id: "planned") { plan { ${FIELDS} } } }`)).run;
  expect(plan).toMatchObject({ pendingSteps: 0, plateauCauses: [] });
  expect(plan.health[0]).toMatchObject({
    level: 'WARN',
    diagnostic: 'zero-variance-groups',
    rule: 'wasteful',
    since: 2,
  });
  expect(plan.bands.map(({ band, tasks }: { band: string; tasks: object[] }) => [band, tasks.length])).toEqual([
    ['UNSOLVED', 6],
    ['HARD', 0],
    ['FRONTIER', 2],
    ['EASY', 0],
    ['SOLVED', 0],
  ]);
  expect(plan.budget.rollouts).toBe(32);
  const { starts } = plan.budget;
  expect(starts.reduce((sum: number, { rollouts }: any) => sum + rollouts, 0)).toBe(32);
  expect(starts.some(({ prefixTurns }: any) => prefixTurns === 1)).toBe(true);
  expect(plan.restarts[0].prefix).toEqual([{ index: 0, state: 'hall', action: 'go' }]);
  expect(plan.restarts[0]).toMatchObject({ prefixTurns: 1, continuations: 3, reason: '2 of 3 succeeded from here' });
  expect(plan.drop).toHaveLength(6);
  expect(plan.drop[0]).toEqual({ task: 'g0', attempts: 12, why: 'UNSOLVED', advice: 'give a hint or a prefix' });
  expect(plan.failures[0]).toMatchObject({ fault: 'AGENT' });
});

it('plans as of an earlier position, and asks as many statements for two runs as for one', async () => {
  const then = (await data('{ run(id: "planned") { plan(asOf: 5) { asOf pendingSteps drop { task } } } }')).run.plan;
  expect(then).toEqual({ asOf: 5, pendingSteps: 1, drop: [] });
  const ask = (first: number) => data(`{ runs(first: ${first}) { edges { node { plan { drop { task } } } } } }`);
  await ask(1);
  api.statements.length = 0;
  await ask(1);
  const ofOne = api.statements.length;
  await aRun(api.db.ownerPool, { project, name: 'empty' });
  api.statements.length = 0;
  const { runs } = await ask(2);
  expect(api.statements).toHaveLength(ofOne);
  expect(runs.edges.map(({ node }: { node: { plan: { drop: object[] } } }) => node.plan.drop.length).sort()).toEqual([
    0, 6,
  ]);
});
