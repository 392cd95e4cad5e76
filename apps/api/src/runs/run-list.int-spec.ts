import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testApi, type TestApi } from '../../../../test/support/api.js';
import { aProject, aRun } from '../../../../test/support/rows.js';

/** What the list is sorted by; null: the projector has not come to the run yet. */
interface Seen {
  readonly name: string;
  readonly state: string;
  readonly steps: number;
  readonly trajectories: number;
  readonly turns: number;
  readonly rate: number | null;
  readonly last: string | null;
  readonly alerts: readonly string[];
  readonly config: object;
}

const NOTHING = {
  state: 'running',
  steps: 0,
  trajectories: 0,
  turns: 0,
  rate: null,
  last: null,
  alerts: [],
  config: {},
};
const RUNS: readonly Seen[] = [
  { ...NOTHING, name: 'unseen' },
  { ...NOTHING, name: 'Warm', rate: 1 / 3, last: '2026-11-20T00:00:00.007Z', alerts: ['warn'], turns: 7 },
  {
    ...NOTHING,
    name: 'apple',
    state: 'failed',
    steps: 9,
    rate: 1,
    alerts: ['info', 'info', 'info'],
    config: { lr: 1 },
  },
  { ...NOTHING, name: 'Banana', state: 'completed', steps: 9, rate: 0, last: '2026-11-21T00:00:00.000Z', turns: 7 },
  { ...NOTHING, name: 'cherry_100%', trajectories: 2 ** 31 - 1, turns: 2 ** 40, alerts: ['critical'] },
  {
    ...NOTHING,
    name: 'date',
    state: 'completed',
    rate: 2 / 3,
    alerts: ['warn', 'warn'],
    config: { env: { id: 'ALFWorld' } },
  },
];

let api: TestApi;
let all: string;
let mine: string;
let project: string;

beforeAll(async () => {
  api = await testApi();
  project = await aProject(api.db.ownerPool, 'fruit');
  const other = await aProject(api.db.ownerPool, 'Vegetables');
  for (const seen of RUNS) await record(project, seen);
  await record(other, { ...NOTHING, name: 'apple', state: 'stopped', alerts: ['critical'] });
  all = await api.key(null, 'read');
  mine = await api.key(project, 'read');
});

afterAll(() => api?.close());

let made = 0;

async function record(projectId: string, { name, config, rate, alerts, ...seen }: Seen): Promise<void> {
  const db = api.db.ownerPool;
  const id = await aRun(db, { project: projectId, name });
  const createdAt = new Date(Date.UTC(2026, 10, 1) + 1000 * Math.floor(made++ / 2)).toISOString(); // two in each instant
  await db.query('update run set config = $2, created_at = $3 where id = $1', [id, config, createdAt]);
  if (name === 'unseen') return;
  await db.query(
    `insert into run_progress (run_id, state, position, last_event_at, training_step_max, trajectory_count, finished_count,
       incomplete_count, superseded_count, turn_count, success_count, outcome_count, outcome_sum, group_count,
       annotation_count, judged_count)
     values ($1, $2, 1, $3, $4, $5, 0, 0, 0, $6, $7, 0, 0, 0, 0, $8)`,
    [id, seen.state, seen.last, seen.steps - 1, seen.trajectories, seen.turns, 3 * (rate ?? 0), rate === null ? 0 : 3],
  );
  for (const [i, level] of alerts.entries()) await alert(id, `${id} ${i}`, level, null);
  await alert(id, `${id} closed`, 'critical', 9);
}

const alert = (run: string, id: string, level: string, closed: number | null) =>
  api.db.ownerPool.query(
    `insert into alert (id, run_id, diagnostic, rule, level, says, saw, opened_step, opened_as_of, closed_as_of)
     values ($2, $1, 'd', $2, $3, '', '{}', 0, 0, $4)`,
    [run, id, level, closed],
  );

interface Asked {
  readonly filter?: object;
  readonly order?: { readonly by: string; readonly descending?: boolean };
  readonly project?: string | null;
  readonly first?: number;
  readonly after?: string | null;
}

const QUERY = `query ($project: String, $filter: RunFilter, $order: RunOrder, $first: Int, $after: String) {
  runs(project: $project, filter: $filter, order: $order, first: $first, after: $after) {
    count edges { cursor node { id name } } pageInfo { hasNextPage endCursor }
  }
}`;

async function list(key: string, asked: Asked) {
  const answer = await api.ask(key, QUERY, asked);
  expect(answer.errors).toBeUndefined();
  return answer.data.runs as {
    count: number;
    edges: { cursor: string; node: { id: string; name: string } }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
}

const namesOf = async (key: string, asked: Asked) => (await list(key, asked)).edges.map(({ node }) => node.name);

/** All pages, one after the other. */
async function walk(key: string, asked: Asked): Promise<string[]> {
  const names: string[] = [];
  for (let after: string | null = null, more = true; more;) {
    const { edges, pageInfo } = await list(key, { ...asked, after });
    names.push(...edges.map(({ node }) => node.name));
    [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  return names;
}

describe('the order of runs', () => {
  const LAST = Symbol('not known');
  const rank = ({ alerts }: Seen) =>
    Math.max(0, ...alerts.map((level) => ['info', 'warn', 'critical'].indexOf(level) + 1)) * 1000 + alerts.length;
  const KEYS: Readonly<Record<string, (run: Seen) => string | number | typeof LAST>> = {
    NAME: ({ name }) => name.toLowerCase(),
    STATE: ({ state }) => state,
    ALERTS: rank,
    TRAINING_STEPS: ({ steps }) => steps,
    TRAJECTORIES: ({ trajectories }) => trajectories,
    TURNS: ({ turns }) => turns,
    SUCCESS_RATE: ({ rate }) => rate ?? LAST,
    LAST_EVENT: ({ last }) => last ?? LAST,
  };

  it.each(Object.entries(KEYS))('is by %s, either way, what is not known last, equal ones by id', async (by, keyOf) => {
    for (const descending of [false, true]) {
      const found = await walk(mine, { order: { by, descending }, first: 2 });
      const keys = found.map((name) => keyOf(RUNS.find((run) => run.name === name)!));
      const known = keys.filter((key) => key !== LAST);
      const sorted = known.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1));
      expect([by, ...keys]).toEqual([by, ...sorted, ...keys.filter((key) => key === LAST)]);
      expect(found.toSorted()).toEqual(RUNS.map(({ name }) => name).toSorted());
      expect(await namesOf(mine, { order: { by, descending } })).toEqual(found);
    }
    const up = await walk(mine, { order: { by }, first: 1 });
    const known = up.filter((name) => keyOf(RUNS.find((run) => run.name === name)!) !== LAST);
    const down = await walk(mine, { order: { by, descending: true }, first: 5 });
    expect(down.slice(0, known.length)).toEqual(known.toReversed());
  });

  it('is newest first if nothing else is said, and by project across projects', async () => {
    const newest = await walk(all, { first: 3 });
    expect(newest.toReversed()).toEqual(await walk(all, { order: { by: 'CREATED' }, first: 2 }));
    expect(newest.at(0)).toBe('apple'); // made last
    const projects = await walk(all, { order: { by: 'PROJECT' }, first: 3 });
    expect(projects).toHaveLength(RUNS.length + 1);
    expect(projects.at(-1)).toBe('apple'); // of Vegetables
  });

  it('is walked to its end while other runs come, each that was there once', async () => {
    const busy = await aProject(api.db.ownerPool, 'busy');
    for (let i = 0; i < 20; i++)
      await aRun(api.db.ownerPool, { project: busy, name: `run ${String(i).padStart(2, '0')}` });
    for (const order of [undefined, { by: 'NAME' }, { by: 'TURNS' }, { by: 'SUCCESS_RATE', descending: true }]) {
      const before = new Set(await walk(all, { project: 'busy' }));
      const found: string[] = [];
      for (let after: string | null = null, more = true; more;) {
        const { edges, pageInfo } = await list(all, { project: 'busy', ...(order && { order }), first: 3, after });
        found.push(...edges.map(({ node }) => node.name));
        [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
        await aRun(api.db.ownerPool, { project: busy, name: `new ${made++}` });
        await aRun(api.db.ownerPool, { project: busy, name: `run 05 ${made++}` });
      }
      const old = found.filter((name) => before.has(name));
      expect(new Set(old).size).toBe(old.length);
      expect(old.length).toBe(before.size);
    }
  });
});

describe('the filter of runs', () => {
  it.each<[string, object, string[]]>([
    ['nothing', {}, RUNS.map(({ name }) => name)],
    ['a part of the name, whatever its case', { text: 'APP' }, ['apple']],
    ['characters that a pattern would take for more', { text: '_100%' }, ['cherry_100%']],
    ['the project', { text: 'fruit' }, RUNS.map(({ name }) => name)],
    ['a part of the config', { text: 'alfw' }, ['date']],
    ['words that all stand somewhere', { text: '  fruit  alfworld dat ' }, ['date']],
    ['words of which one stands nowhere', { text: 'date apple' }, []],
    ['a state', { state: 'COMPLETED' }, ['Banana', 'date']],
    ['the state of runs that nothing was seen of', { state: 'RUNNING' }, ['unseen', 'Warm', 'cherry_100%']],
    ['open alerts', { hasOpenAlerts: true }, ['Warm', 'apple', 'cherry_100%', 'date']],
    ['no open alert', { hasOpenAlerts: false }, ['unseen', 'Banana']],
    ['all of it', { text: 'a', state: 'COMPLETED', hasOpenAlerts: true }, ['date']],
    ['nulls', { text: null, state: null, hasOpenAlerts: null }, RUNS.map(({ name }) => name)],
  ])('by %s', async (_what, filter, names) => {
    for (const order of [{ by: 'NAME' }, { by: 'SUCCESS_RATE', descending: true }, { by: 'ALERTS' }]) {
      const found = await walk(mine, { filter, order, first: 2 });
      expect(found.toSorted()).toEqual(names.toSorted());
      expect((await list(mine, { filter, order, first: 1 })).count).toBe(names.length);
    }
  });

  it('finds a run by its id', async () => {
    const [{ node }] = (await list(mine, { first: 1 })).edges;
    expect(await namesOf(mine, { filter: { text: node.id.toUpperCase() } })).toEqual([node.name]);
  });

  it('never shows, nor counts, what the key does not see', async () => {
    const apples = { filter: { text: 'apple' } };
    expect((await list(mine, apples)).count).toBe(1);
    expect((await list(all, apples)).count).toBe(2);
    expect(await namesOf(mine, { filter: { state: 'STOPPED' } })).toEqual([]);
    expect(await namesOf(mine, { filter: { text: 'vegetables' } })).toEqual([]);
    expect(await namesOf(all, { filter: { text: 'vegetables' } })).toEqual(['apple']);
    expect(await namesOf(mine, { project: 'Vegetables' })).toEqual([]);
  });

  it('is held against a cursor made without it', async () => {
    const order = { by: 'NAME' };
    const [{ cursor }] = (await list(mine, { order, first: 1 })).edges;
    expect(await namesOf(mine, { order, after: cursor, filter: { state: 'COMPLETED' } })).toEqual(['Banana', 'date']);
  });
});

describe('the list of runs', () => {
  it('costs two statements with its count and one without', async () => {
    api.statements.length = 0;
    await list(mine, { filter: { text: 'a', state: 'COMPLETED', hasOpenAlerts: true }, order: { by: 'ALERTS' } });
    expect(api.statements).toHaveLength(2);
    api.statements.length = 0;
    await api.ask(mine, '{ runs(filter: { text: "a" }, order: { by: TURNS }) { edges { node { id } } } }');
    expect(api.statements).toHaveLength(1);
  });

  it('counts those of projects in one statement more', async () => {
    const found = await api.ask(all, '{ projects { edges { node { name runs(first: 1) { count } } } } }');
    const counts = Object.fromEntries(found.data.projects.edges.map(({ node }: any) => [node.name, node.runs.count]));
    expect(counts).toMatchObject({ fruit: RUNS.length, Vegetables: 1 });
  });

  it('refuses what it cannot mean, by name', async () => {
    const [{ cursor }] = (await list(mine, { order: { by: 'TURNS' }, first: 1 })).edges;
    const refusals: readonly [Asked, RegExp][] = [
      [{ filter: { text: 'x'.repeat(201) } }, /^text: up to 10 words and 200 characters were wanted, found 1 and 201$/],
      [{ filter: { text: 'a '.repeat(11) } }, /^text: up to 10 words/],
      [{ order: { by: 'TURNS', descending: true }, after: cursor }, /^after: a cursor of this list was wanted/],
      [{ order: { by: 'TRAJECTORIES' }, after: cursor }, /^after: a cursor of this list was wanted/],
      [{ after: cursor }, /^after: a cursor of this list was wanted/],
      [{ order: { by: 'TURNS' }, after: forged(['turns', '1; drop table run', 'x']) }, /^after: a cursor of this list/],
      [
        { order: { by: 'LAST_EVENT' }, after: forged(['last-event', 'yesterday', 'x']) },
        /^after: a cursor of this list/,
      ],
      [{ order: { by: 'COLOUR' } }, /COLOUR/],
      [{ filter: { state: 'asleep' } }, /asleep/],
      [{ filter: { colour: 'red' } }, /colour/],
    ];
    for (const [asked, message] of refusals) {
      const { errors = [] } = await api.ask(mine, QUERY, asked);
      expect(errors[0]?.message).toMatch(message);
      expect(errors[0]?.extensions.code).toBe('query.invalid');
    }
    const { errors = [] } = await api.ask(mine, QUERY, { filter: { text: 'a\0b' } });
    expect(errors[0]?.extensions.code).toBe('request.invalid');
  });
});

const forged = (key: readonly unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url');
