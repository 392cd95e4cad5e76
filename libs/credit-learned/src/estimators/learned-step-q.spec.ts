import { trajectoryBatch } from '#lib/dataset';
import { discountedSums } from '#lib/numeric';
import { expect, it } from 'vitest';
import { lampRollouts } from '../learned.fixture.js';
import { Learner } from '../learner.js';
import { learnedStepQ } from './learned-step-q.js';

const records = lampRollouts();
const trajectories = trajectoryBatch(records);
const learner = new Learner('wasm');

async function creditOf(params: object) {
  const outcome = await learner.run(learnedStepQ, trajectories, { epochs: 4, ...params });
  if (outcome.kind === 'missing') throw new Error('missing');
  const column = (name: string) => outcome.credit.explain![name].values as Float64Array;
  return { values: outcome.credit.values, column };
}

it('is Q less the value of the state, fitted to discounted returns', async () => {
  const { values, column } = await creditOf({ gamma: 0.9 });
  const [q, baseline] = [column('learnedQ'), column('stateBaseline')];
  values.forEach((value, t) => expect(value).toBe(q[t] - baseline[t]));
  const { turnOffsets } = trajectories;
  const reward = new Float64Array(values.length);
  records.forEach(({ outcomeReward }, i) => (reward[turnOffsets[i + 1] - 1] = outcomeReward));
  expect(column('turnReturn')).toEqual(discountedSums(reward, turnOffsets, 0.9));
});

it('against its siblings, sums to 0 over the turns of a group in one state, and is 0 where there is one', async () => {
  const { values } = await creditOf({ baseline: 'siblings' });
  const inState = new Map<string, number[]>();
  let turn = 0;
  for (const { group, turns } of records)
    for (const { state } of turns) {
      const key = `${group} ${state}`;
      inState.set(key, [...(inState.get(key) ?? []), values[turn++]]);
    }
  const sizes = new Set<number>();
  for (const credits of inState.values()) {
    sizes.add(credits.length);
    expect(credits.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 12);
    if (credits.length === 1) expect(credits[0]).toBe(0);
  }
  expect(sizes.has(1) && sizes.size > 2).toBe(true);
});

it('takes the rewards of turns where it is told to', async () => {
  const paid = trajectoryBatch(
    records.map((record) => ({
      ...record,
      turns: record.turns.map((turn) => ({ ...turn, reward: turn.signals.worth })),
    })),
  );
  const outcome = await learner.run(learnedStepQ, paid, { rewards: 'turn', epochs: 2 });
  if (outcome.kind === 'missing') throw new Error('missing');
  const worth = Float64Array.from(records.flatMap(({ turns }) => turns.map(({ signals }) => signals.worth)));
  expect(outcome.credit.explain!.turnReturn.values).toEqual(discountedSums(worth, paid.turnOffsets, 1));
  expect((await learner.run(learnedStepQ, trajectories, { rewards: 'turn' })).kind).toBe('missing');
});
