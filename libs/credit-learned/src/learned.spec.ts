import { readFileSync } from 'node:fs';
import { enterEstimator, paramsSchema, type Credit } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { pearson, rowSums } from '#lib/numeric';
import { Devices, type Device } from '#lib/tensor';
import { describe, expect, it } from 'vitest';
import { LEARNED_ESTIMATORS } from './estimators/index.js';
import { lampRollouts } from './learned.fixture.js';
import { Learner } from './learner.js';

const records = lampRollouts();
const trajectories = trajectoryBatch(records);
const worth = Float64Array.from(numbers(trajectories, 'turn.worth')!);
const learner = new Learner('wasm');

async function creditOf(id: string, params: Record<string, unknown> = {}, batch = trajectories) {
  const outcome = await learner.run(
    LEARNED_ESTIMATORS.find((each) => each.id === id)!,
    batch,
    params,
  );
  if (outcome.kind === 'missing') throw new Error('missing');
  return outcome;
}

const shardValue = ({ explain }: Credit, name: string) => (explain![name].values as Float64Array)[0];

/** How each way is run, and how well its credit has to follow what a turn is worth. */
const WAYS = [
  ['spa-learned', {}],
  ['spa-learned', { residual: 'none', hiddenUnits: 0 }],
  ['learned-return-decomposition', {}],
  ['learned-return-decomposition', { method: 'randomized', drawnTurns: 2 }],
  ['learned-return-decomposition', { ridge: 100, residual: 'uniform' }],
  ['learned-rudder', {}],
  ['learned-rudder', { start: 'zero', residual: 'none' }],
  ['learned-progress', {}],
  ['learned-progress', { target: 'success' }],
  ['learned-progress', { last: 'predicted' }],
  ['learned-step-q', {}],
  ['learned-step-q', { foldsBy: 'trajectory' }],
  ['learned-value-gae', { lambda: 0 }],
] as const;

describe.each(WAYS)('%s %o', (id, params) => {
  it('finds what turns are worth in groups that it did not see, and is better than the mean', async () => {
    const { credit, warnings, device } = await creditOf(id, params);
    expect(device).toBe('wasm');
    expect(pearson(credit.values, worth)).toBeGreaterThan(id === 'learned-value-gae' ? 0.2 : 0.6);
    if (id === 'learned-value-gae') return; // nothing in a state says what comes
    expect(shardValue(credit, 'heldOutLoss')).toBeLessThan(shardValue(credit, 'baselineLoss'));
    expect(shardValue(credit, 'calibrationError')).toBeLessThan(0.25);
    expect(warnings).toEqual([]);
  }, 120_000);

  it('gives the same bits for one seed, and others for another', async () => {
    const few = { ...params, epochs: 3 };
    const once = await creditOf(id, few);
    expect(await creditOf(id, few)).toEqual(once);
    expect((await creditOf(id, { ...few, seed: 1 })).credit.values).not.toEqual(once.credit.values);
  }, 120_000);
});

/** What the model says, before anything is done with the outcome of the trajectory itself. */
const SAID: Readonly<Record<string, string>> = {
  'spa-learned': 'contribution',
  'learned-return-decomposition': 'learnedReward',
  'learned-rudder': 'returnPrediction',
  'learned-progress': 'predictedOutcome',
  'learned-value-gae': 'learnedValue',
  'learned-step-q': 'learnedQ',
};

describe.each(LEARNED_ESTIMATORS)('$id', (estimator) => {
  const { id } = estimator;

  it('does not score a trajectory by a model that saw its group', async () => {
    // whatever the outcomes of one group are, the predictions for its turns stay what they were
    const column = SAID[id];
    const other = trajectoryBatch(
      records.map((record) =>
        record.group === 'task 3' ? { ...record, outcomeReward: 7 - record.outcomeReward } : record,
      ),
    );
    // squared loss both times: outcomes beyond 0 .. 1
    const params = { epochs: 3, patience: 3 };
    const [before, after] = await Promise.all([creditOf(id, params), creditOf(id, params, other)]);
    const ofGroup = ({ credit }: typeof before) =>
      [...(credit.explain![column].values as Float64Array)].filter(
        (_, turn) => records[ownerRow(turn)].group === 'task 3',
      );
    expect(ofGroup(after)).toEqual(ofGroup(before));
    expect(after.credit.explain![column].values).not.toEqual(before.credit.explain![column].values);
  });

  it('by trajectory, does not score one by a model that saw it, and learns from its siblings', async () => {
    const changed = 20;
    const other = trajectoryBatch(
      records.map((record, i) => (i === changed ? { ...record, outcomeReward: 7 - record.outcomeReward } : record)),
    );
    const params = { epochs: 3, patience: 3, foldsBy: 'trajectory' };
    const [before, after] = await Promise.all([creditOf(id, params), creditOf(id, params, other)]);
    const saidOf = ({ credit }: typeof before, i: number) =>
      (credit.explain![SAID[id]].values as Float64Array).slice(...trajectories.turnOffsets.subarray(i, i + 2));
    expect(saidOf(after, changed)).toEqual(saidOf(before, changed));
    const siblings = records.flatMap(({ group }, i) => (group === records[changed].group && i !== changed ? [i] : []));
    expect(siblings.some((i) => String(saidOf(after, i)) !== String(saidOf(before, i)))).toBe(true);
  });

  it.each([
    [
      'few trajectories',
      lampRollouts({ groups: 4, perGroup: 3 }),
      /12 trajectories with turns, and minTrajectories is 32/,
    ],
    ['two groups', lampRollouts({ groups: 2, perGroup: 20 }), /2 groups/],
    ['equal ends', records.map((record) => ({ ...record, outcomeReward: 0.5 })), /ended alike/],
  ])('says nothing, and why, of %s', async (_, small, why) => {
    const { credit, warnings } = await creditOf(id, {}, trajectoryBatch(small));
    expect([...credit.values].every(Number.isNaN)).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(why)]);
  });

  it('cannot be called at once', () => {
    expect(() => estimator.estimate(trajectories, {} as never, {} as never)).toThrow('learns on a device');
  });

  it('takes embeddings of states where the trainer logged them', async () => {
    const embedded = records.map((record) => ({
      ...record,
      turns: record.turns.map((turn, t) => ({
        ...turn,
        signals: { ...turn.signals, embedding: [t, 1, turn.signals.worth] },
      })),
    }));
    const params = { epochs: 2 };
    const [without, given] = [await creditOf(id, params), await creditOf(id, params, trajectoryBatch(embedded))];
    expect(given.credit.values).not.toEqual(without.credit.values);
  });

  it('has a page with its params and their defaults, and no others', () => {
    const page = readFileSync(`docs/estimators/${id}.md`, 'utf8');
    const { properties } = paramsSchema(estimator) as { properties: Record<string, { default: unknown }> };
    const rows = [
      ...page
        .split('## Params')[1]
        .split('\n## ')[0]
        .matchAll(/^\| `(\w+)` +\| `([^`]+)` +\|/gm),
    ];
    expect(Object.fromEntries(rows.map(([, name, value]) => [name, JSON.parse(value) as unknown]))).toEqual(
      Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, each.default])),
    );
    for (const source of [estimator.citation.paper, estimator.citation.code?.split('@')[1]])
      if (source) expect(page).toContain(source);
    expect(readFileSync('docs/estimators/README.md', 'utf8')).toContain(`[\`${id}\`](${id}.md)`);
    expect(page).toMatch(/^## What is uncertain\n\n\S/m);
  });
});

function ownerRow(turn: number): number {
  return trajectories.turnOffsets.findLastIndex((offset) => offset <= turn);
}

it('of more trajectories than numbers in a row, least squares finds the worth as well', async () => {
  const many = trajectoryBatch(lampRollouts({ groups: 45, perGroup: 20 }));
  const { credit } = await creditOf('learned-return-decomposition', { ridge: 100 }, many);
  expect(pearson(credit.values, Float64Array.from(numbers(many, 'turn.worth')!))).toBeGreaterThan(0.9);
}, 60_000);

it.each([
  ['spa-learned', {}],
  ['learned-return-decomposition', { residual: 'uniform' }],
  ['learned-return-decomposition', { residual: 'uniform', method: 'randomized' }],
  ['learned-rudder', {}],
  ['learned-rudder', { start: 'zero' }],
])('contributions of %s %o add up to the outcome', async (id, params) => {
  const { credit } = await creditOf(id, { ...params, epochs: 2 });
  const sums = rowSums(credit.values, trajectories.turnOffsets);
  records.forEach(({ outcomeReward }, i) => expect(sums[i]).toBeCloseTo(outcomeReward, 12));
});

it('differences of predictions add up to how it ended, less what was expected before', async () => {
  const { credit } = await creditOf('learned-progress', { epochs: 2 });
  const sums = rowSums(credit.values, trajectories.turnOffsets);
  const start = credit.explain!.startOutcome.values as Float64Array;
  records.forEach(({ outcomeReward }, i) => expect(sums[i]).toBeCloseTo(outcomeReward - start[i], 12));
});

it('a job of 20 shards ends with the tensors and the bytes that it began with, also where a shard fails', async () => {
  const device = await new Devices('wasm').current();
  await creditOf('spa-learned', { epochs: 1 });
  const { numTensors, numDataBuffers, numBytes } = device.tf.memory();
  const shards = Array.from({ length: 20 }, (_, shard) =>
    trajectoryBatch(lampRollouts({ groups: 4, perGroup: 4, seed: `shard ${shard}` })),
  );
  const few = { epochs: 2, hiddenUnits: 4, minTrajectories: 12 };
  for (const [n, shard] of shards.entries()) {
    const estimator = LEARNED_ESTIMATORS[n % LEARNED_ESTIMATORS.length];
    await creditOf(estimator.id, few, shard);
    if (n === 0) await creditOf('learned-return-decomposition', { ...few, method: 'randomized' }, shard);
    if (n % 2 === 1) await expect(failingMidway().run(estimator, shard, few)).rejects.toThrow('device lost');
  }
  expect(device.tf.memory()).toMatchObject({ numTensors, numDataBuffers, numBytes });
}, 120_000);

/** A device that is lost at the 8th product of two matrices. */
async function lostMidway(): Promise<Device> {
  const wasm = await new Devices('wasm').current();
  let products = 0;
  const matMul: typeof wasm.tf.matMul = (...args) => {
    if (++products === 8) throw new Error('device lost');
    return wasm.tf.matMul(...args);
  };
  return { ...wasm, tf: { ...wasm.tf, matMul } };
}

const failingMidway = () =>
  new Learner(new Devices('wasm', { cuda: lostMidway, webgpu: lostMidway, wasm: lostMidway }));

it('a model that learned nothing that holds is said so', async () => {
  const noise = records.map((record, i) => ({ ...record, outcomeReward: (i * 7919) % 5 }));
  const { warnings } = await creditOf('learned-return-decomposition', { ridge: 0.01 }, trajectoryBatch(noise));
  expect(warnings).toEqual([
    expect.stringMatching(/^the held-out loss .* is not below .*: do not rely on this credit$/),
  ]);
});

it('where one group alone succeeded, a predictor of success is judged by finite losses', async () => {
  const rare = records.map((record, i) => ({ ...record, success: record.group === 'task 3' && i % 2 === 0 }));
  const { credit } = await creditOf('learned-progress', { target: 'success', epochs: 2 }, trajectoryBatch(rare));
  for (const loss of ['heldOutLoss', 'baselineLoss']) expect(shardValue(credit, loss)).toBeLessThan(14);
});

it('a signal that is missing is an answer', async () => {
  const bare = trajectoryBatch(
    records.map(({ id, group, trainingStep, turns }) => ({ id, group, trainingStep, turns })),
  );
  const outcome = await learner.run(LEARNED_ESTIMATORS[0], bare);
  expect(outcome).toMatchObject({ kind: 'missing', missing: [{ path: 'trajectory.outcomeReward' }] });
  expect(enterEstimator(LEARNED_ESTIMATORS[0], bare, {}).kind).toBe('missing');
});

describe('a device that fails', () => {
  const failing = async (): Promise<Device> => {
    const wasm = await new Devices('wasm').current();
    return { ...wasm, id: 'webgpu', activate: () => Promise.reject(new Error('device lost')) };
  };
  const absent = () => Promise.reject(new Error('not installed'));
  const open = { cuda: absent, webgpu: failing, wasm: () => new Devices('wasm').current() };
  const run = (wish: 'auto' | 'webgpu') =>
    new Learner(new Devices(wish, open)).run(LEARNED_ESTIMATORS[0], trajectories, { epochs: 1 });

  it('is followed by the next, once, and the credit says so', async () => {
    expect(await run('auto')).toMatchObject({
      device: 'wasm',
      warnings: expect.arrayContaining(['webgpu failed (device lost): computed on wasm']),
    });
  });

  it('in the middle of a shard leaves nothing of what it had computed', async () => {
    const lost = async () => ({ ...(await lostMidway()), id: 'webgpu' as const });
    const devices = new Devices('auto', { ...open, webgpu: lost });
    const retried = await new Learner(devices).run(LEARNED_ESTIMATORS[0], trajectories, { epochs: 1 });
    const plain = await creditOf(LEARNED_ESTIMATORS[0].id, { epochs: 1 });
    if (retried.kind === 'missing') throw new Error('missing');
    expect(retried.credit).toEqual(plain.credit);
    expect(retried.warnings).toEqual(['webgpu failed (device lost): computed on wasm', ...plain.warnings]);
  });

  it('of a GPU is named with its adapter', async () => {
    const named = async () => ({
      ...(await new Devices('wasm').current()),
      id: 'webgpu' as const,
      description: 'an H200',
    });
    const learner = new Learner(new Devices('webgpu', { ...open, webgpu: named }));
    expect(await learner.run(LEARNED_ESTIMATORS[0], trajectories, { epochs: 1 })).toMatchObject({
      device: 'webgpu (an H200)',
    });
  });

  it('is the reason where no other is allowed', () => expect(run('webgpu')).rejects.toThrow('device lost'));
});
