import { findEstimator, runEstimator } from '#lib/credit';
import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { lampRollouts } from '../learned.fixture.js';
import { Learner } from '../learner.js';
import { learnedRudder } from './learned-rudder.js';

const records = lampRollouts();
const learner = new Learner('wasm');

async function creditOf(params: object) {
  const outcome = await learner.run(learnedRudder, trajectoryBatch(records), { epochs: 4, ...params });
  if (outcome.kind === 'missing') throw new Error('missing');
  return outcome.credit;
}

it.each(['uniform', 'none'])(
  'measured against 0, it is rudder on its own predictions (residual %s)',
  async (residual) => {
    const credit = await creditOf({ start: 'zero', residual });
    const prediction = credit.explain!.returnPrediction.values as Float64Array;
    let turn = 0;
    const predicted = records.map((record) => ({
      ...record,
      turns: record.turns.map((each) => ({ ...each, signals: { returnPrediction: prediction[turn++] } })),
    }));
    const closed = runEstimator(findEstimator('rudder'), trajectoryBatch(predicted), { errorCorrection: residual });
    if (closed.kind === 'missing') throw new Error('missing');
    credit.values.forEach((value, t) => expect(value).toBeCloseTo(closed.credit.values[t], 12));
  },
);

it('measured against what is said before any turn, it differs by that and by nothing else', async () => {
  const [zero, prior] = await Promise.all(['zero', 'prior'].map((start) => creditOf({ start, residual: 'none' })));
  const { turnOffsets } = trajectoryBatch(records);
  const start = prior.explain!.startPrediction.values as Float64Array;
  zero.values.forEach((value, t) => {
    const i = turnOffsets.indexOf(t);
    expect(prior.values[t]).toBeCloseTo(i < 0 ? value : value - start[i], 12);
  });
  expect(new Set(start).size).toBe(5);
});

it('leaves out what has no turns', async () => {
  const empty = { id: 'empty', group: 'task 3', trainingStep: 0, outcomeReward: 1, success: true, turns: [] };
  const [with_, without] = await Promise.all(
    [[...records, empty], records].map((each) => learner.run(learnedRudder, trajectoryBatch(each), { epochs: 2 })),
  );
  if (with_.kind === 'missing' || without.kind === 'missing') throw new Error('missing');
  expect(with_.credit.values).toEqual(without.credit.values);
});
