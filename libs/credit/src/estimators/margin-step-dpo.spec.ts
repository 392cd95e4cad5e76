import { describe, expect, it } from 'vitest';
import { trajectoryBatch } from '#lib/dataset';
import { creditOf, estimateOf, expectNumbers } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { branch, withTurns } from '../tree-signals.fixture.js';
import { isPartialSubtree, simpleEditDistance, syntaxTreeSimilarity } from '../syntax-tree.js';
import { marginPairLoss, marginStepDpo } from './margin-step-dpo.js';

const turn = (logprob: number, refLogprob: number, astSimilarity: number) => ({ logprob, refLogprob, astSimilarity });
const siblings = (...turns: object[]) => withTurns(turns.map((_, i) => branch(`${i}`, 0, 1)), turns.map((each) => [each])); // prettier-ignore
const example = siblings(turn(-1, -2, 0.8), turn(-2.5, -2, 0.3));
const params = marginStepDpo.params.parse({});

describe('margin-step-dpo', () => {
  it('offsets the logit by the logarithm of the difference', () => {
    const { columns, turnAdvantage } = estimateOf(marginStepDpo, example);
    expectNumbers(columns['pairLoss'], [0.3579], 1e-4);
    expectNumbers(columns['chosenReward'], [0.1], 1e-12);
    expectNumbers(columns['rejectedReward'], [-0.05], 1e-12);
    expect([columns['chosen'], columns['rejected']]).toEqual([['0:0'], ['1:0']]);
    // σ(−(0.15 + ln 2))
    const weight = 1 / (1 + 2 * Math.exp(0.15));
    expectNumbers(turnAdvantage, [weight, -weight], 1e-12);
  });

  it('has plain DPO, its smoothed form and IPO', () => {
    const loss = (more: object) => (estimateOf(marginStepDpo, example, more).columns['pairLoss'] as number[])[0];
    expect(loss({ variant: 'dpo' })).toBeCloseTo(0.621, 3);
    expect(loss({ variant: 'dpo', labelSmoothing: 0.1 })).toBeCloseTo(0.621 + 0.1 * 0.15, 2);
    expect(loss({ variant: 'ipo' })).toBeCloseTo((1.5 - 5) ** 2, 9);
    expect(loss({ variant: 'ratio' })).toBeCloseTo(Math.log(1 + Math.exp(-0.15 + Math.log(8 / 3))), 9);
  });

  it('weighs a pair by minus the derivative of its loss', () => {
    for (const variant of ['margin', 'ratio', 'dpo', 'ipo'] as const) {
      const at = (d: number) => marginPairLoss(d, 0.8, 0.3, { ...params, variant, labelSmoothing: variant === 'dpo' ? 0.1 : 0 }); // prettier-ignore
      const slope = (at(1.5 + 1e-6).loss - at(1.5 - 1e-6).loss) / (2e-6 * params.beta);
      expect(at(1.5).weight).toBeCloseTo(-slope, 4);
    }
  });

  it('pairs any two turns that left the same node, none of equal similarity, and sums to 0 over them', () => {
    const three = siblings(turn(-1, -2, 0.8), turn(-2, -2, 0.3), turn(-3, -2, 0.5), turn(-1, -1, 0.5));
    const { columns } = estimateOf(marginStepDpo, three);
    expect(columns['chosen']).toEqual(['0:0', '0:0', '0:0', '2:0', '3:0']);
    expect(creditOf(marginStepDpo, three).values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 12);
    expect([...creditOf(marginStepDpo, siblings(turn(-1, -2, 0.5), turn(-2, -1, 0.5))).values]).toEqual([0, 0]);
    const apart = withTurns([branch('a', 0, 1), { ...branch('b', 0, 1), group: 'h' }], [[turn(-1, -2, 0.8)], [turn(-2.5, -2, 0.3)]]); // prettier-ignore
    expect([...creditOf(marginStepDpo, apart).values]).toEqual([0, 0]);
  });

  it('leaves out a ratio that has no logarithm, and says so', () => {
    const outcome = runEstimator(marginStepDpo, trajectoryBatch(siblings(turn(-1, -2, 0.8), turn(-2, -2, 0))), { variant: 'ratio' }); // prettier-ignore
    expect(outcome).toMatchObject({
      kind: 'credit',
      credit: { values: Float64Array.of(0, 0) },
      warnings: ['pairs left out, their ratio has no logarithm: 1 of 1'],
    });
  });

  it('sums what is logged per token', () => {
    const tokens = (logprob: number[], refLogprob: number[]) => ({ tokens: { logprob, refLogprob } });
    const spoken = example.map((record, i) => ({
      ...record,
      turns: [{ ...record.turns[0], ...[tokens([-0.5, -0.5], [-1, -1]), tokens([-2, -0.5], [-1, -1])][i] }],
    }));
    expectNumbers(creditOf(marginStepDpo, spoken, { logprobLevel: 'token' }).values, creditOf(marginStepDpo, example).values, 1e-7); // prettier-ignore
  });
});

describe('syntax trees', () => {
  const leaf = (value: string) => ({ type: 'COLUMN', value });
  const select = (...columns: string[]) => ({ type: 'SELECT', value: 's', children: columns.map(leaf) });

  it('differ by nodes and edits', () => {
    const [full, sub] = [select('a', 'b'), select('a')];
    expect(simpleEditDistance(full, sub)).toBe(1);
    expect(simpleEditDistance(select('b', 'a'), sub)).toBe(2);
    expect(simpleEditDistance(full, leaf('a'))).toBe(1);
    const weights = { nodeCountWeight: 0.7, editDistanceWeight: 0.3 };
    expect(syntaxTreeSimilarity(full, sub, weights)).toBeCloseTo((0.7 * 2) / 3 + (0.3 * 2) / 3, 12);
    expect(syntaxTreeSimilarity(sub, select('a', 'b', 'c'), weights)).toBeGreaterThan(1);
  });

  it('are part of another where each child is part of some child, also of the same one', () => {
    expect(isPartialSubtree(select('a', 'b'), select('b'))).toBe(true);
    expect(isPartialSubtree(select('a'), select('a', 'a'))).toBe(true);
    expect(isPartialSubtree(select('a'), select('b'))).toBe(false);
    expect(isPartialSubtree(select('a'), leaf('a'))).toBe(false);
  });

  it('are credited by their similarity', () => {
    const records = withTurns([branch('a', 0, 1)], [[{ syntaxTree: select('a'), fullSyntaxTree: select('a') }]]);
    expectNumbers(creditOf(marginStepDpo, records, { kind: 'astSimilarity' }).values, [1], 1e-12);
  });
});
