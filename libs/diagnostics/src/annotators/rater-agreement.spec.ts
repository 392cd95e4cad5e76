import { expect, it } from 'vitest';
import { raterAgreement, type Rater } from './rater-agreement.js';

const rater = (annotator: string, labels: readonly number[], signal = 'humanLabel'): Rater => ({
  annotator,
  signal,
  labels: Float64Array.from(labels),
});
const _ = NaN;

it('compares every two over the turns that both labelled', () => {
  const { pairs } = raterAgreement(Int32Array.of(0, 2, 5), [
    rater('ann', [-1, -1, 1, 1, 0]),
    rater('bob', [-1, 1, 1, 1, _]),
  ]);
  // as in label-agreement.spec: observed 3/4, expected 1/2
  expect(pairs).toMatchObject([{ first: 0, second: 1, agreement: { turns: 4, trajectories: 2, kappa: 0.5, sameShare: 0.75 } }]); // prettier-ignore
  expect(pairs[0].agreement.confusion).toEqual([
    [1, 0, 1],
    [0, 0, 0],
    [0, 0, 2],
  ]);
});

it('leaves each annotator out and holds it against most of the others of its signal', () => {
  const { raters } = raterAgreement(Int32Array.of(0, 4), [
    rater('ann', [1, 1, -1, 0]),
    rater('bob', [1, 1, -1, 1]),
    rater('eve', [-1, 1, 1, 1]),
    rater('judge', [-1, -1, -1, -1], 'judgeLabel'),
  ]);
  // against ann: bob and eve lead on turns 1 and 3 alone, and differ on 0 and 2
  expect(raters[0]).toMatchObject({ byLabel: [1, 1, 2], others: { turns: 2, sameShare: 0.5, confusion: [[0, 0, 0], [0, 0, 0], [0, 1, 1]] } }); // prettier-ignore
  // against eve: ann and bob agree on 0, 1, 2
  expect(raters[2].others).toMatchObject({ turns: 3, sameShare: 1 / 3 });
  expect(raters[3].others).toBeNull();
});

it('says how sure κ is, the same each time, and nothing of one trajectory', () => {
  const turnOffsets = Int32Array.from({ length: 41 }, (_unused, i) => 2 * i);
  const ann = Array.from({ length: 80 }, (_unused, turn) => (turn % 2 === 0 ? 1 : -1));
  const bob = ann.map((label, turn) => (turn % 10 === 0 ? -label : label));
  const agreement = () => raterAgreement(turnOffsets, [rater('ann', ann), rater('bob', bob)]).pairs[0].agreement;
  const { kappa, kappaLow, kappaHigh } = agreement();
  // 72 of 80 are the same; ann says +1 40 times, bob 32 times: expected 0.5
  expect(kappa).toBeCloseTo(0.8, 12);
  expect(kappaLow).toBeGreaterThan(0.6);
  expect(kappaLow).toBeLessThan(0.8);
  expect(kappaHigh).toBeGreaterThan(0.8);
  expect(kappaHigh).toBeLessThan(1);
  expect(agreement()).toMatchObject({ kappaLow, kappaHigh });
  const single = raterAgreement(Int32Array.of(0, 4), [rater('ann', [1, -1, 1, 0]), rater('bob', [1, -1, 0, 0])]);
  expect(single.pairs[0].agreement).toMatchObject({ kappaLow: null, kappaHigh: null });
});

it('has nothing to say of nobody, of one, and of two who never met', () => {
  expect(raterAgreement(Int32Array.of(0), [])).toEqual({ raters: [], pairs: [] });
  expect(raterAgreement(Int32Array.of(0, 1), [rater('ann', [1])])).toMatchObject({ raters: [{ turns: 1, others: null }], pairs: [] }); // prettier-ignore
  const apart = raterAgreement(Int32Array.of(0, 2), [rater('ann', [1, _]), rater('bob', [_, 1])]);
  expect(apart.pairs[0].agreement).toMatchObject({ turns: 0, kappa: null, sameShare: null });
  expect(raterAgreement(Int32Array.of(0, 2), [rater('a', [1, 1]), rater('b', [1, 1])]).pairs[0].agreement).toMatchObject({ kappa: null, sameShare: 1 }); // prettier-ignore
});

it('scores a judge against people as AgentProcessBench and ProcessBench do, over what it was asked', () => {
  const offsets = Int32Array.of(0, 3, 6, 9, 12);
  const judge: Rater = {
    ...rater('judge', [1, -1, _, -1, 0, 1, _, _, _, _, _, _], 'judgeLabel'),
    failed: Uint8Array.of(0, 0, 1, 0),
  };
  const human = rater('ann', [1, -1, -1, 1, 0, 1, 1, 1, 1, -1, -1, -1]);
  const { raters } = raterAgreement(offsets, [human, judge], ['a', 'a', 'b', 'b']);
  // asked about three: the first error of one is found, of one an error is found that is none, one failed
  expect(raters[1].benchmark).toMatchObject({
    records: 3,
    stepTotal: 9,
    stepMatches: 4,
    stepAcc: 4 / 9,
    trajectoryExactAcc: 0,
    firstErrorAcc: 2 / 3,
    missingOrFailedRatio: 1 / 3,
    errorAcc: 100,
    correctAcc: 0,
    f1: 0,
  });
  expect(Object.keys(raters[1].benchmark!.byDataset)).toEqual(['a', 'b']);
  expect(raters[0].benchmark).toBeNull();
  // two people are held against each other
  const two = raterAgreement(offsets, [human, rater('bob', [...human.labels])]);
  expect(two.raters[0].benchmark).toMatchObject({ stepAcc: 1, trajectoryExactAcc: 1, f1: 100 });
});
