import { Learner } from '#lib/credit-learned';
import type { SegmentStore } from '#lib/storage';
import { beforeEach, describe, expect, it } from 'vitest';
import { countedReads } from '../../../test/support/counted-reads.js';
import { forgetSegments } from '../../../test/support/forget-segments.js';
import { recordedRun } from '../../../test/support/recorded-run.js';
import { nearestTask, seekTask } from './nearest-task.js';
import { failNearest, findNearest, startNearest, type NearestRequest, type NearestResult } from './nearest-turns.js';

const AT = '2026-11-21T12:00:00Z';

const here = recordedRun();
const { send } = here;
const learner = new Learner('wasm');

const rollout = (id: string, states: readonly string[], rest: object = {}) => ({
  type: 'trajectory.recorded',
  at: AT,
  id,
  group: 'lamps',
  trainingStep: 0,
  outcomeReward: 0,
  turns: states.map((state) => ({ state, action: 'look' })),
  ...rest,
});

const start = (request: NearestRequest) =>
  startNearest({ pool: here.db.pool, queue: async () => {} }, here.run, request);

async function stored(id: string) {
  const { rows } = await here.db.pool.query('select state, failure, result from nearest_turns where id = $1', [id]);
  return rows[0] as { state: string; failure: string | null; result: NearestResult | null };
}

async function search(request: NearestRequest, store = here.store) {
  const id = await start(request);
  await findNearest(
    {
      pool: here.db.pool,
      seek: (task) => seekTask(here.store, task),
      nearest: (task) => nearestTask(store, task, learner),
    },
    id,
  );
  return stored(id);
}

const shown = (turns: NearestResult['failures']) =>
  turns.map(({ trajectory, turn, trainingStep }) => `${trajectory}/${turn} of step ${trainingStep}`);

describe('the nearest turns of a turn', () => {
  const SOUGHT = 'you stand in the kitchen beside a lamp';
  beforeEach(async () => {
    await send([
      rollout('own', ['a door', SOUGHT, SOUGHT]),
      rollout('lost', ['you stand in the hall', 'you stand in the kitchen beside a lamp']),
      rollout('won', ['you stand in the kitchen beside a lamb'], { outcomeReward: 1 }),
      rollout('other', [SOUGHT], { group: 'mugs', success: true }),
      rollout('unjudged', [SOUGHT], { outcomeReward: undefined }),
      rollout('wordless', ['...']),
      rollout('later', ['you stand in the kitchen'], { trainingStep: 3, success: true, outcomeReward: 0 }),
      { type: 'turn.recorded', at: AT, trajectory: 'live', group: 'lamps', trainingStep: 3, turn: 0, state: SOUGHT },
    ]);
  });

  it('are those of the trajectories that failed and of those that succeeded, in the whole run', async () => {
    const { state, result } = await search({ trajectory: 'own', turn: 1 });
    expect(state).toBe('completed');
    expect(shown(result!.failures)).toEqual(['lost/1 of step 0']);
    expect(shown(result!.successes)).toEqual(['other/0 of step 0', 'won/0 of step 0', 'later/0 of step 3']);
    expect(result!.successes[0]).toEqual({
      trajectory: 'other',
      turn: 0,
      trainingStep: 0,
      group: 'mugs',
      outcomeReward: 0,
      similarity: expect.closeTo(1, 5),
    });
    expect(result).toMatchObject({
      by: 'text',
      compared: { failures: 1, successes: 3 },
      leftOut: { unjudged: 1, incomparable: 1 },
      trainingSteps: 2,
      devices: ['wasm'],
      warnings: [],
    });
  });

  it('are as many as are asked for, of the task or the group alone', async () => {
    const successes = async (request: object) =>
      shown((await search({ trajectory: 'own', turn: 1, ...request })).result!.successes);
    expect(await successes({ k: 1 })).toEqual(['other/0 of step 0']);
    expect(await successes({ within: 'task' })).toEqual(['won/0 of step 0', 'later/0 of step 3']);
    expect(await successes({ within: 'group' })).toEqual(['won/0 of step 0']);
  });

  it('are those of the run as it was at a position, and are there before their segment is', async () => {
    const { result } = await search({ trajectory: 'own', turn: 1, asOf: 3 });
    expect([shown(result!.failures), shown(result!.successes)]).toEqual([['lost/1 of step 0'], ['won/0 of step 0']]);
    await send([{ type: 'run.rewound', at: AT, toTrainingStep: 0 }]);
    expect(shown((await search({ trajectory: 'own', turn: 1 })).result!.successes)).not.toContain('later/0 of step 3');
  });

  it('are found in a segment that is opened once for the training steps of a stretch', async () => {
    const steps = [4, 5, 6, 7].flatMap((trainingStep) => [
      rollout(`more${trainingStep}`, ['you stand in the garden'], { trainingStep }),
      rollout(`best${trainingStep}`, [SOUGHT], { trainingStep, outcomeReward: 1 }),
    ]);
    await send([...steps, { type: 'trajectory.ended', at: AT, trajectory: 'live', turnCount: 1, outcomeReward: 0 }]);
    await send([{ type: 'run.ended', at: AT }]);
    const { store, read } = countedReads(here.store);
    const found = await search({ trajectory: 'own', turn: 1, k: 9 }, store);
    // two readers share six steps
    expect(Object.values(read)).toEqual([2, 2]);
    expect(shown(found.result!.successes)).toEqual([
      'other/0 of step 0',
      ...[4, 5, 6, 7].map((step) => `best${step}/0 of step ${step}`),
      'won/0 of step 0',
      'later/0 of step 3',
    ]);
    await forgetSegments(here.db.pool, here.run);
    expect(await search({ trajectory: 'own', turn: 1, k: 9 }, store)).toEqual(found);
    expect(Object.values(read), 'a step that waits for its segment is read from the log').toEqual([2, 2]);
  });

  it('are found without the values of tokens, which stay in their files', async () => {
    const speaking = (name: string, entropy: number[]) => ({
      type: 'trajectory.recorded',
      at: AT,
      id: name,
      group: 'lamps',
      trainingStep: 9,
      outcomeReward: 0,
      turns: [{ state: SOUGHT, action: 'look', tokens: { entropy } }],
    });
    const many = Array.from({ length: 9_000 }, (_, i) => i / 7);
    await send([speaking('short', [0.5]), speaking('long', many), { type: 'run.ended', at: AT }]);
    const bytes = { read: 0 };
    const counted = async (part: Promise<Uint8Array>) => {
      const { length } = await part;
      bytes.read += length;
      return part;
    };
    const store = {
      get: (key: string) => counted(here.store.get(key)),
      getPart: (key: string, from: number, to?: number) => counted(here.store.getPart!(key, from, to)),
    } as SegmentStore;
    const { result } = await search({ trajectory: 'short', turn: 0, within: 'group' }, store);
    expect(shown(result!.failures)).toEqual(['long/0 of step 9']);
    // and the ends of both files, which are looked at first
    expect(bytes.read).toBeLessThan(4 * many.length);
  });

  it('are found by the logged embeddings where the turn has one', async () => {
    const embedded = (id: string, embedding: number[], outcomeReward: number) => ({
      ...rollout(id, []),
      trainingStep: 5,
      outcomeReward,
      turns: [{ state: id, action: 'a', signals: { embedding } }],
    });
    await send([
      embedded('e', [1, 0], 0),
      embedded('f', [1, 1], 0),
      embedded('g', [0, 1], 1),
      embedded('h', [1, 0, 0], 1),
    ]);
    const { result } = await search({ trajectory: 'e', turn: 0 });
    expect(result).toMatchObject({
      by: 'embedding',
      failures: [{ trajectory: 'f', similarity: expect.closeTo(Math.SQRT1_2, 5) }],
      successes: [{ trajectory: 'g', similarity: expect.closeTo(0, 5) }],
      leftOut: { unjudged: 1 },
    });
  });

  it('are the same when they are sought again, and nothing once they are known', async () => {
    const [once, again] = [await search({ trajectory: 'own', turn: 1 }), await search({ trajectory: 'own', turn: 1 })];
    expect(again.result).toEqual(once.result);
    const id = await start({ trajectory: 'own', turn: 1 });
    await failNearest(here.db.pool, id, new Error('no worker was left'));
    await findNearest({ pool: here.db.pool, seek: () => Promise.reject(new Error('seen')), nearest: null! }, id);
    expect(await stored(id)).toMatchObject({ state: 'failed', failure: 'no worker was left', result: null });
  });

  it('say why nothing can be sought', async () => {
    const { state, failure } = await search({ trajectory: 'wordless', turn: 0 });
    expect(state).toBe('failed');
    expect(failure).toBe(
      'turn 0 of wordless has nothing to compare: an embedding or a state with a word was wanted, found neither',
    );
  });

  it.each([
    [{ trajectory: 'nobody', turn: 0 }, 'trajectory.unknown', 'no trajectory nobody in the run as of position 8'],
    [
      { trajectory: 'later', turn: 0, asOf: 3 },
      'trajectory.unknown',
      'no trajectory later in the run as of position 3',
    ],
    [{ trajectory: 'live', turn: 0 }, 'request.invalid', 'trajectory live is not finished'],
    [{ trajectory: 'own', turn: 3 }, 'request.invalid', 'turn: a whole number from 0 to 2 was wanted, found 3'],
    [{ trajectory: 'own', turn: 1, k: 51 }, 'request.invalid', 'k: a whole number from 1 to 50 was wanted, found 51'],
    [{ trajectory: 'own', turn: 1, asOf: 99 }, 'request.invalid', 'asOf: a position up to 8 was wanted, found 99'],
  ] as const)('of %j are refused: %s', async (request, code, why) => {
    await expect(start(request)).rejects.toMatchObject({ code, message: expect.stringContaining(why) });
  });
});
