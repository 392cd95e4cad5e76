import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ESTIMATORS, runEstimator } from '#lib/credit';
import { comparisonOf, decodeSummary, type Comparison } from '#lib/diagnostics';
import { appendOwn, EventLog, headOf, readEvents, sealBatch } from '#lib/event-log';
import { Projector, rebuild } from '#lib/projection';
import type { RunEvent } from '#lib/protocol';
import { openSegmentStore, type SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../test/support/database.js';
import { aProject, aRun } from '../../../test/support/rows.js';
import { cancelAnalysis } from './cancel-analysis.js';
import { computeShard } from './compute-shard.js';
import { failShard, runShard } from './shard-job.js';
import { planAnalysis, type ShardAddress } from './plan-analysis.js';
import { progressOf } from './progress.js';
import type { EstimatorWish } from './request.js';
import { resultKey } from './result-key.js';
import { creditFileKey, type ShardAnswer, type ShardTask } from './shard-task.js';
import { announce, startAnalysis } from './start-analysis.js';

const AT = '2026-11-21T12:00:00Z';

let db: TestDatabase;
let folder: string;
let store: SegmentStore;
let log: EventLog;
let project: string;
let run: string;
let sequence: number;
/** every shard that was really computed */
let computed: ShardTask[];

beforeAll(async () => {
  db = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'recredit-analysis-'));
  store = await openSegmentStore(pathToFileURL(folder).href);
  log = new EventLog(db.pool, { notify: false });
});

afterAll(async () => {
  await log?.close();
  await db?.drop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  project = await aProject(db.ownerPool);
  run = await aRun(db.ownerPool, { project });
  sequence = 0;
  computed = [];
});

/** A rollout whose outcome depends on its number, so that groups are mixed. */
const rollout = (step: number, group: number, i: number, prefix = '') => ({
  type: 'trajectory.recorded',
  at: AT,
  id: `${prefix}t${step}-${group}-${i}`,
  group: `g${group}`,
  trainingStep: step,
  outcomeReward: (i + group) % 2,
  success: (i + group) % 2 === 1,
  turns: [0, 1, 2].map((t) => ({
    state: `room ${t}`,
    action: `go ${(i + t) % 3}`,
    reward: t === 2 ? (i + group) % 2 : 0,
    signals: { exactAdvantage: ((i + group) % 2) - 0.5 + t / 10 },
  })),
});

const stepOf = (step: number, prefix = '') =>
  [0, 1].flatMap((group) => [0, 1, 2].map((i) => rollout(step, group, i, prefix)));

async function send(events: readonly object[]): Promise<void> {
  const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const batch = await sealBatch({ producerId: 'p', epoch: 0, sequence: sequence++, ndjson, eventCount: events.length });
  await log.append(run, batch);
}

const ports = (compute = (task: ShardTask) => computeShard(store, task)) => ({
  pool: db.pool,
  conclude: async (summary: Uint8Array) => comparisonOf(decodeSummary(summary), { resamples: 20 }),
  compute: (task: ShardTask) => {
    computed.push(task);
    return compute(task);
  },
});

const projectAll = async () => {
  await new Projector({ pool: db.pool, store }).projectRun(run);
};

async function ask(estimators: readonly EstimatorWish[], asOf?: number): Promise<string> {
  const request = { runs: [{ id: run, asOf }], estimators };
  return startAnalysis({ pool: db.pool, plan: async () => {} }, project, request);
}

/** Plans as a worker would. @returns the shards that wait to be computed */
async function plan(analysis: string): Promise<ShardAddress[]> {
  await projectAll();
  const waiting: ShardAddress[] = [];
  await planAnalysis({ ...ports(), compute: async (shards) => void waiting.push(...shards) }, analysis);
  return waiting;
}

async function analyze(estimators: readonly EstimatorWish[], asOf?: number): Promise<string> {
  const analysis = await ask(estimators, asOf);
  for (const shard of await plan(analysis)) await runShard(ports(), shard);
  return analysis;
}

async function stored(analysis: string): Promise<{ state: string; comparison: Comparison; results: string[] }> {
  const { rows } = await db.pool.query(
    `select state, comparison, (select json_agg(inputs -> 'results' order by training_step) from analysis_shard where analysis_id = $1) as results
     from analysis where id = $1`,
    [analysis],
  );
  const [{ state, comparison, results }] = rows;
  return { state, comparison, results: (results ?? []).flat() };
}

/** The task of a shard of which nothing is known. */
const unknown = (task: ShardTask): ShardTask => ({
  ...task,
  estimators: task.estimators.map((estimator) => ({ ...estimator, known: null })),
});

const bytesOf = (keys: readonly string[]) => Promise.all(keys.map((key) => store.get(creditFileKey(key))));

describe('an analysis', () => {
  it('computes a shard per training step and compares what they say', async () => {
    await send([...stepOf(0), ...stepOf(1)]);
    const analysis = await analyze([{ id: 'grpo' }, { id: 'gigpo', params: { gamma: 0.9 } }]);
    const { state, comparison } = await stored(analysis);

    expect(state).toBe('completed');
    expect(await progressOf(db.pool, analysis)).toMatchObject({
      total: 2,
      done: 2,
      cached: 0,
      failed: 0,
      secondsLeft: 0,
    });
    expect(comparison).toMatchObject({ trajectories: 12, turns: 36, groups: 4, groupsWithSignal: 4 });
    expect(comparison.estimators.map(({ id }) => id)).toEqual(['gigpo', 'grpo']);
    expect(comparison.truths.map(({ signal }) => signal)).toEqual(['exactAdvantage', 'exactAdvantage']);
    const last = (await readEvents(db.pool, run, 0)).slice(-2).map(({ event }) => event);
    expect(last).toMatchObject([
      { type: 'analysis.requested', analysis },
      { type: 'analysis.completed', analysis, state: 'completed' },
    ]);
  });

  it('asked for twice is free, and after new data only new shards are computed', async () => {
    await send([...stepOf(0), ...stepOf(1)]);
    const first = await stored(await analyze([{ id: 'grpo' }]));
    expect(computed).toHaveLength(2);

    const again = await analyze([{ id: 'grpo' }]);
    expect(computed).toHaveLength(2);
    expect(await progressOf(db.pool, again)).toMatchObject({ state: 'completed', total: 2, done: 2, cached: 2 });
    expect((await stored(again)).comparison).toEqual(first.comparison);

    await send(stepOf(2));
    const grown = await analyze([{ id: 'grpo' }]);
    expect(computed.map(({ trainingStep }) => trainingStep)).toEqual([0, 1, 2]);
    expect(await progressOf(db.pool, grown)).toMatchObject({ total: 3, cached: 2 });
  });

  it('shares results between analyses that have an estimator in common', async () => {
    await send(stepOf(0));
    await analyze([{ id: 'grpo' }]);
    await analyze([{ id: 'rloo' }, { id: 'grpo' }]);
    expect(computed[1].estimators.map(({ id, known }) => [id, known])).toEqual([
      ['rloo', null],
      ['grpo', 'credit'],
    ]);
  });

  it('as of a position gives the same bytes later, and after a rebuild', async () => {
    await send([...stepOf(0), ...stepOf(1).slice(0, 4)]);
    const asOf = await headOf(db.pool, run);
    const wishes = [{ id: 'gigpo' }, { id: 'hgpo' }];
    const before = await stored(await analyze(wishes, asOf));
    const bytes = await bytesOf(before.results);

    await send([...stepOf(1).slice(4), ...stepOf(2)]);
    const whole = await stored(await analyze(wishes));
    expect(whole.results).not.toEqual(before.results);
    expect((await stored(await analyze(wishes, asOf))).results).toEqual(before.results);

    await db.ownerPool.query('delete from credit_result where run_id = $1', [run]);
    await db.ownerPool.query('delete from shard_summary where run_id = $1', [run]);
    await Promise.all(before.results.map((key) => store.delete(creditFileKey(key))));
    await rebuild(db.pool, store, run);
    computed = [];
    const rebuilt = await stored(await analyze(wishes, asOf));
    expect(computed.length).toBeGreaterThan(0);
    expect(rebuilt.results).toEqual(before.results);
    expect(await bytesOf(rebuilt.results)).toEqual(bytes);
    expect(rebuilt.comparison).toEqual(before.comparison);
  });

  it('takes what had ended before its position out of a segment that goes on', async () => {
    await send(stepOf(0).slice(0, 3));
    const asOf = await headOf(db.pool, run);
    await send(stepOf(0).slice(3));
    const part = await stored(await analyze([{ id: 'grpo' }], asOf));
    const whole = await stored(await analyze([{ id: 'grpo' }]));
    expect(part.comparison.trajectories).toBe(3);
    expect(whole.comparison.trajectories).toBe(6);
    expect(part.results).not.toEqual(whole.results);
  });

  it('joins annotations in, and computes only the steps anew that they speak of', async () => {
    await send([...stepOf(0), ...stepOf(1)]);
    const first = await stored(await analyze([{ id: 'grpo' }]));
    const turns = [0, 1, 2].map((turn) => ({ turn, signals: { humanLabel: turn - 1 } }));
    const annotation = { type: 'annotation.recorded', at: AT, trajectory: 't1-0-0', annotator: 'ann', turns };
    await appendOwn(db.pool, run, [annotation as RunEvent]);
    computed = [];
    const labelled = await stored(await analyze([{ id: 'grpo' }]));
    expect(computed.map(({ trainingStep }) => trainingStep)).toEqual([1]);
    expect(labelled.comparison.truths.map(({ signal, n }) => [signal, n])).toEqual([
      ['exactAdvantage', 36],
      ['humanLabel', 3],
    ]);
    expect(first.comparison.truths).toHaveLength(1);
  });

  it.each([
    ['was lost', (key: string) => store.delete(key)],
    ['was cut off', async (key: string) => writeFile(join(folder, key), (await store.get(key)).subarray(0, 300))],
    ['is empty', (key: string) => writeFile(join(folder, key), '')],
  ])('computes a result again whose file %s', async (_, damage) => {
    await send(stepOf(0));
    const first = await stored(await analyze([{ id: 'grpo' }]));
    const [bytes] = await bytesOf(first.results);
    await damage(creditFileKey(first.results[0]));
    await analyze([{ id: 'grpo' }, { id: 'rloo' }]);
    expect(await bytesOf(first.results)).toEqual([bytes]);
  });

  it('says what an estimator lacks and carries on with the others', async () => {
    await send(stepOf(0));
    const analysis = await analyze([{ id: 'gae', params: { granularity: 'turn' } }, { id: 'grpo' }]);
    const { rows } = await db.pool.query(
      `select estimator, outcome, missing from credit_result where run_id = $1 order by 1`,
      [run],
    );
    expect(rows).toEqual([
      { estimator: 'gae', outcome: 'missing', missing: [{ path: 'turn.valueEstimate', rows: 18, of: 18 }] },
      { estimator: 'grpo', outcome: 'credit', missing: null },
    ]);
    expect((await stored(analysis)).comparison.estimators.map(({ id }) => id)).toEqual(['grpo']);
  });

  it('of a run without trajectories is completed at once, with nothing to compare', async () => {
    const analysis = await analyze([{ id: 'grpo' }]);
    expect(await stored(analysis)).toEqual({ state: 'completed', comparison: null, results: [] });
  });
});

describe('a shard', () => {
  it('that fails fails alone, with its reason', async () => {
    await send([...stepOf(0), ...stepOf(1)]);
    const analysis = await ask([{ id: 'grpo' }]);
    const [bad, good] = await plan(analysis);
    const damaged = ports(() => Promise.reject(new Error('segment 0 is damaged')));
    for (let i = 0; i < 3; i++) await expect(runShard(damaged, bad)).rejects.toThrow('damaged');
    await failShard(damaged, bad, 'segment 0 is damaged');
    await runShard(ports(), good);

    expect(await progressOf(db.pool, analysis)).toMatchObject({ state: 'completed', done: 1, failed: 1 });
    expect((await stored(analysis)).comparison.trajectories).toBe(6);
    const { rows } = await db.pool.query(
      `select tries, reason from analysis_shard where analysis_id = $1 and state = 'failed'`,
      [analysis],
    );
    expect(rows).toEqual([{ tries: 3, reason: 'segment 0 is damaged' }]);
  });

  it('names a segment that is damaged', async () => {
    await send(stepOf(0));
    const analysis = await ask([{ id: 'grpo' }]);
    const [shard] = await plan(analysis);
    const { rows } = await db.pool.query(`select numeric_key as key from segment where run_id = $1`, [run]);
    const file = join(folder, rows[0].key);
    await writeFile(file, (await readFile(file)).subarray(0, 200));
    await expect(runShard(ports(), shard)).rejects.toMatchObject({ code: 'segment.damaged' });
  });

  it('computed by two workers at once has one result', async () => {
    await send(stepOf(0));
    const analysis = await ask([{ id: 'gigpo' }]);
    const [shard] = await plan(analysis);
    await Promise.all([runShard(ports(), shard), runShard(ports(), shard)]);
    expect(computed).toHaveLength(2);
    const { rows } = await db.pool.query(`select count(*)::int as results from credit_result where run_id = $1`, [run]);
    expect(rows).toEqual([{ results: 1 }]);
    expect((await stored(analysis)).state).toBe('completed');
    const completions = (await readEvents(db.pool, run, 0)).filter(({ event }) => event.type === 'analysis.completed');
    expect(completions).toHaveLength(1);
  });

  it('computed while others are has the bytes that it has alone, whosever memory it is given', async () => {
    await send([0, 1, 2, 3, 4, 5].flatMap((step) => stepOf(step, 'x'.repeat(step * 50))));
    await analyze([{ id: 'gigpo' }, { id: 'grpo' }, { id: 'discounted-return' }]);
    const tasks = computed.map(unknown);
    const filesOf = async (answers: readonly ShardAnswer[]) => {
      const results = answers.flatMap(({ results }) => results);
      const files = await bytesOf(results.map(({ key }) => key));
      const hashes = files.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
      expect(results.map((result) => result.kind === 'credit' && result.sha256)).toEqual(hashes);
      return [...hashes, ...answers.map(({ summary }) => Buffer.from(summary).toString('base64'))];
    };
    const alone: ShardAnswer[] = [];
    for (const task of tasks) alone.push(await computeShard(store, task));
    const before = await filesOf(alone);
    for (let round = 0; round < 3; round++) {
      const order = tasks.map((_, i) => (i * 5 + round) % tasks.length);
      const answers = await Promise.all(order.map((i) => computeShard(store, tasks[i])));
      const sorted = tasks.map((_, i) => answers[order.indexOf(i)]);
      expect(await filesOf(sorted)).toEqual(before);
    }
  });

  it('leaves the values of tokens in their files where nobody will ask for them', async () => {
    const logging = (step: number, tokens: object) =>
      stepOf(step).map((each) => ({ ...each, turns: each.turns.map((turn) => ({ ...turn, tokens })) }));
    const left = async () => {
      computed = [];
      await analyze([{ id: 'grpo' }]);
      return computed.map(({ leavesTokens }) => leavesTokens);
    };
    await send(stepOf(0));
    expect(await left()).toEqual([false]);
    await send(logging(1, { entropy: [0.5, 0.25] }));
    expect(await left()).toEqual([true]);
    // the comparison of a small analysis looks at all log-probabilities
    await send(logging(2, { entropy: [0.5], logprob: [-0.5] }));
    expect(await left()).toEqual([false]);
  });

  it('that fails does not hold up the next', async () => {
    await send([...stepOf(0), ...stepOf(1)]);
    await analyze([{ id: 'grpo' }]);
    const [broken, whole] = computed;
    const lost = {
      ...broken,
      segments: broken.segments.map((each) => ({ ...each, numericKey: 'segments/lost.arrow' })),
    };
    const full = {
      get: (key: string) => store.get(key),
      put: () => Promise.reject(new Error('no space left')),
    } as Partial<SegmentStore> as SegmentStore;
    const [first, second, third] = await Promise.allSettled([
      computeShard(store, lost),
      computeShard(full, unknown(whole)),
      computeShard(store, unknown(whole)),
    ]);
    expect(first).toMatchObject({ reason: { code: 'segment.damaged' } });
    expect(second).toMatchObject({ reason: { message: 'no space left' } });
    expect(third).toMatchObject({ value: { results: [{ kind: 'credit' }] } });
  });

  it('whose worker died between result and record is finished by the next', async () => {
    await send(stepOf(0));
    const analysis = await ask([{ id: 'grpo' }]);
    const [shard] = await plan(analysis);
    const dying = ports(async (task) => {
      await computeShard(store, task);
      throw new Error('killed');
    });
    await expect(runShard(dying, shard)).rejects.toThrow('killed');
    await runShard(ports(), shard);
    expect((await stored(analysis)).state).toBe('completed');
  });
});

describe('an estimator that fails', () => {
  const failing = (isBroken: () => boolean) =>
    ports((task) =>
      computeShard(store, task, {
        catalogue: ESTIMATORS,
        identify: async (trajectories) => ({ trajectories, warnings: [] }),
        run: (estimator, trajectories, params) => {
          if (estimator.id === 'rloo' && isBroken()) throw new Error('out of order');
          return runEstimator(estimator, trajectories, params);
        },
      }),
    );
  const outcomes = async () => {
    const { rows } = await db.pool.query(
      `select estimator, outcome, reason from credit_result where run_id = $1 order by estimator`,
      [run],
    );
    return rows;
  };

  it('fails alone, with its reason, and is tried again by the next analysis', async () => {
    await send(stepOf(0));
    let isBroken = true;
    const analyzeWith = async () => {
      const analysis = await ask([{ id: 'grpo' }, { id: 'rloo' }]);
      for (const shard of await plan(analysis))
        await runShard(
          failing(() => isBroken),
          shard,
        );
      return stored(analysis);
    };
    const first = await analyzeWith();
    expect(first.state).toBe('completed');
    expect(first.comparison.estimators.map(({ id }) => id)).toEqual(['grpo']);
    expect(await outcomes()).toEqual([
      { estimator: 'grpo', outcome: 'credit', reason: null },
      { estimator: 'rloo', outcome: 'failed', reason: 'rloo: out of order' },
    ]);

    isBroken = false;
    const second = await analyzeWith();
    expect(second.comparison.estimators.map(({ id }) => id)).toEqual(['grpo', 'rloo']);
    expect(second.results).toEqual(first.results);
    expect((await outcomes()).map(({ outcome }: { outcome: string }) => outcome)).toEqual(['credit', 'credit']);
  });
});

describe('what counts as the same state', () => {
  const asking = (by?: 'fullHistory') => {
    const stateIdentity = by && { by, excludeGeneric: false };
    const request = { runs: [{ id: run }], estimators: [{ id: 'gigpo' }, { id: 'grpo' }], stateIdentity };
    return startAnalysis({ pool: db.pool, plan: async () => {} }, project, request);
  };
  const work = async (analysis: string) => {
    for (const shard of await plan(analysis)) await runShard(ports(), shard);
    return (await stored(analysis)).results;
  };

  it('is in the request, and makes other results of those that read states alone', async () => {
    await send(stepOf(0));
    const [gigpo, grpo] = await work(await asking());
    const [gigpoByHistory, grpoAgain] = await work(await asking('fullHistory'));
    expect(grpoAgain).toBe(grpo);
    expect(gigpoByHistory).not.toBe(gigpo);
    expect(await work(await asking('fullHistory'))).toEqual([gigpoByHistory, grpo]);

    const requests = (await readEvents(db.pool, run, 0)).flatMap(({ event }) =>
      event.type === 'analysis.requested' ? [event.request.stateIdentity] : [],
    );
    const chosen = { by: 'fullHistory', excludeGeneric: false };
    expect(requests).toEqual([{ by: 'lastObservation', excludeGeneric: false }, chosen, chosen]);
    const [bytes, byHistory] = await bytesOf([gigpo, gigpoByHistory]);
    expect(byHistory).not.toEqual(bytes);
  });
});

describe("a result of a user's own estimator", () => {
  it('is known by the hash of its file', () => {
    const source = { segments: [], lastAnnotation: null };
    const keyOf = (hash?: string) =>
      resultKey('r', source, { label: 'm', id: 'm', version: 0, params: {}, ...(hash && { hash }) });
    expect(new Set([keyOf(), keyOf('a'), keyOf('b')]).size).toBe(3);
    expect(keyOf('a')).toBe(keyOf('a'));
  });
});

describe('cancelling', () => {
  it('keeps what waits from beginning, and what is being computed from ending the analysis', async () => {
    await send([...stepOf(0), ...stepOf(1)]);
    const analysis = await ask([{ id: 'grpo' }]);
    const [first, second] = await plan(analysis);
    const meanwhile = ports(async (task) => {
      await cancelAnalysis(db.pool, analysis);
      return computeShard(store, task);
    });
    await runShard(meanwhile, first);
    await runShard(ports(), second);
    expect(computed).toHaveLength(1);
    expect(await progressOf(db.pool, analysis)).toMatchObject({ state: 'cancelled', done: 0 });
    await cancelAnalysis(db.pool, analysis);
    const ended = (await readEvents(db.pool, run, 0)).filter(({ event }) => event.type === 'analysis.completed');
    expect(ended.map(({ event }) => event)).toMatchObject([{ analysis, state: 'cancelled' }]);
    // the work was not in vain
    computed = [];
    await analyze([{ id: 'grpo' }]);
    expect(computed.flatMap(({ estimators }) => estimators.map(({ known }) => known))).toEqual([null]);
  });

  it('refuses an analysis that has ended', async () => {
    await send(stepOf(0));
    const analysis = await analyze([{ id: 'grpo' }]);
    await expect(cancelAnalysis(db.pool, analysis)).rejects.toMatchObject({ code: 'analysis.ended' });
  });
});

describe('a request', () => {
  it('is stored together with the job that plans it, or not at all', async () => {
    await send(stepOf(0));
    const request = { runs: [{ id: run }], estimators: [{ id: 'grpo' }] };
    const requests = async () => (await db.pool.query('select count(*)::int as count from analysis')).rows[0].count;
    const before = await requests();
    const unqueued = async () => {
      throw new Error('killed');
    };
    await expect(startAnalysis({ pool: db.pool, plan: unqueued }, project, request)).rejects.toThrow('killed');
    expect(await requests()).toBe(before);
    const types = (await readEvents(db.pool, run, 0)).map(({ event }) => event.type);
    expect(types).not.toContain('analysis.requested');
  });

  it.each([
    [[], undefined, 'request.invalid'],
    [[{ id: 'nope' }], undefined, 'estimator.unknown'],
    [[{ id: 'grpo', params: { epsilom: 1 } }], undefined, 'params.invalid'],
    [[{ id: 'grpo' }], 99, 'request.invalid'],
  ])('%j as of %s is refused: %s', async (estimators, asOf, code) => {
    await expect(ask(estimators, asOf)).rejects.toMatchObject({ code });
    const { rows } = await db.pool.query(`select count(*)::int as n from analysis_run where run_id = $1`, [run]);
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('names an estimator that is asked for with several params, and drops one that is asked for twice', async () => {
    await send(stepOf(0));
    const analysis = await ask([
      { id: 'grpo' },
      { id: 'grpo', params: { normalizeByStd: false } },
      { id: 'grpo', params: { epsilon: 1e-6 } },
    ]);
    const { rows } = await db.pool.query(`select estimators from analysis where id = $1`, [analysis]);
    expect(rows[0].estimators.map(({ label }: { label: string }) => label)).toEqual(['grpo', 'grpo:2']);
  });

  it('is announced once, however many announce it at the same time', async () => {
    await send(stepOf(0));
    const analysis = await ask([{ id: 'grpo' }]);
    const events = await headOf(db.pool, run);
    await db.ownerPool.query(`update analysis_run set requested_at_position = null where analysis_id = $1`, [analysis]);
    await Promise.all([1, 2, 3].map(() => announce(db.pool, analysis)));
    expect(await headOf(db.pool, run)).toBe(events + 1);
  });

  it('whose announcement was interrupted is announced by its plan, once', async () => {
    await send(stepOf(0));
    const analysis = await ask([{ id: 'grpo' }]);
    await db.ownerPool.query(
      `update analysis_run set requested_at_position = null, as_of = null where analysis_id = $1`,
      [analysis],
    );
    const shards = plan(analysis);
    // the plan waits for a projector that has seen the second announcement
    const projecting = setInterval(() => void projectAll(), 50);
    expect(await shards).toHaveLength(1);
    clearInterval(projecting);
  });
});
