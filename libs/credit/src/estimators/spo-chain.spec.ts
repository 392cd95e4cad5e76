import { describe, expect, it } from 'vitest';
import { estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { trajectoryBatch } from '#lib/dataset';
import { spoChain } from './spo-chain.js';

const log = (p: number) => Math.log(p);
const chain = (
  outcome: number,
  probability: number[],
  mcValueAfter: (number | null)[],
  promptValue?: number,
  mask?: number[],
) => ({
  // prettier-ignore
  ...rollout('g', outcome, [{ tokens: { logprob: probability.map(log), mcValueAfter, ...(mask && { mask }) } }]),
  ...(promptValue !== undefined && { signals: { promptValue } }),
});
const example = chain(1, [0.5, 0.95, 0.6, 0.99, 0.4, 0.97], [null, 0.5, null, 0.75, null, null], 0.25);
const advantages = (record: ReturnType<typeof chain>, params = {}) =>
  (estimateOf(spoChain, [record], params).tokenAdvantage as number[][][])[0][0];

describe('spo-chain', () => {
  it('credits uncertain tokens with what their segment changed', () => {
    const { columns } = estimateOf(spoChain, [example], { cutpointInterval: 1 });
    expect(columns['cutpoints']).toEqual([[-1, 1, 3]]);
    expectNumbers(advantages(example, { cutpointInterval: 1 }), [0.25, 0, 0.25, 0, 0.25, 0]);
  });

  it('cuts at every so-many-th uncertain token', () => {
    expect(estimateOf(spoChain, [example], { cutpointInterval: 2 }).columns['cutpoints']).toEqual([[-1, 3]]);
    expectNumbers(advantages(example, { cutpointInterval: 2 }), [0.5, 0, 0.5, 0, 0.25, 0]);
  });

  it('gives the first segment 0 where the prompt has no value, and everything where nothing is uncertain', () => {
    expectNumbers(advantages({ ...example, signals: {} }, { cutpointInterval: 1 }), [0, 0, 0.25, 0, 0.25, 0]); // prettier-ignore
    expect(advantages(chain(1, [0.95, 0.99], [null, null], 0.5))).toEqual([0, 0]);
  });

  it('takes a cutpoint without an estimate for none, and says how many there are', () => {
    const record = chain(1, [0.5, 0.95, 0.6, 0.99], [null, null, null, null], 0.25);
    const outcome = runEstimator(spoChain, trajectoryBatch([record]), { cutpointInterval: 1 });
    if (outcome.kind !== 'credit') throw new TypeError('credit was wanted');
    expectNumbers(outcome.credit.values, [0.75, 0, 0.75, 0]);
    expect(outcome.warnings).toEqual(['cutpoints without a value: 1 of 2']);
  });

  it('answers for one token, which is the whole response', () => {
    expectNumbers(advantages(chain(1, [0.5], [null], 0.25)), [0.75]);
    expectNumbers(advantages(chain(1, [0.5], [null])), [0]);
  });

  it('is uncertain of no token that was not generated', () => {
    const masked = chain(1, [0.5, 0.1, 0.6], [null, 0.5, null], 0.25, [1, 0, 1]);
    expect(estimateOf(spoChain, [masked], { cutpointInterval: 1 }).columns['cutpoints']).toEqual([[-1, 1]]);
    expectNumbers(advantages(masked, { cutpointInterval: 1 }), [0.25, 0, 0.5]);
  });

  it('sums the segments to the outcome less the value of the prompt', () => {
    const uncertain = chain(0.5, [0.1, 0.1, 0.1, 0.1], [0.4, 0.9, 0.2, null], 0.3);
    const values = advantages(uncertain, { cutpointInterval: 1 });
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0.2, 6);
  });

  it('asks for the estimates, but not on every token', () => {
    const bare = { ...example, turns: [{ tokens: { logprob: [0, 0] } }] };
    expect(runEstimator(spoChain, trajectoryBatch([bare]))).toEqual({ kind: 'missing', missing: [{ path: 'token.mcValueAfter', rows: 2, of: 2 }] }); // prettier-ignore
  });
});
