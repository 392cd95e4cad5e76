import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { chooseSize, pseudoLabel, roundHalfEven, scopeTtrl } from './scope-ttrl.js';

const answered = (finalAnswer: string | null, ...turns: number[][]) => ({
  ...rollout('g', 0, turns.map((surprisal) => ({ tokens: { logprob: surprisal.map((s) => -s) } }))), // prettier-ignore
  signals: { finalAnswer },
});
const four = [answered('7', [0.2]), answered('8', [1]), answered('7', [0.05]), answered('8', [0.5])];
const all = { subgroupSize: 4, subgroupSamples: { g: [[0, 1, 2, 3]] } };

describe('scope-ttrl', () => {
  it('gives the numbers of its page', () => {
    const { columns, trajectoryAdvantage } = estimateOf(scopeTtrl, four, all);
    expectNumbers(columns.trajectoryConfidence, [0.2, 1, 0.05, 0.5], 1e-12);
    expect(columns.pseudoLabel).toEqual(['8', '8', '8', '8']);
    expectNumbers(trajectoryAdvantage, [-0.866, 0.866, -0.866, 0.866], 1e-3);
  });

  it('takes the mean over turns of means over tokens, without what the policy did not generate', () => {
    const { columns } = estimateOf(scopeTtrl, [answered('a', [0.1, 0.3], [1], [])], { subgroupSize: 1 });
    expect(columns.turnConfidence).toEqual([[0.2, 1, null]]);
    expectNumbers(columns.trajectoryConfidence, [0.6], 1e-12);
    const masked = { ...rollout('g', 0, [{ tokens: { logprob: [-1, -3], mask: [1, 0] } }]), signals: { finalAnswer: 'a' } }; // prettier-ignore
    expect(estimateOf(scopeTtrl, [masked]).columns.turnConfidence).toEqual([[1]]);
  });

  it('rounds as numpy does', () => {
    expect(roundHalfEven(0.125, 2)).toBe(0.12);
    expect(roundHalfEven(0.375, 2)).toBe(0.38);
    expect(roundHalfEven(-0.125, 2)).toBe(-0.12);
    expect(roundHalfEven(2.4, 0)).toBe(2);
  });

  it('turns the weights round where log-probabilities count', () => {
    const likely = { ...all, confidenceSign: 'logprob' };
    // 7: −0.25, 8: −1.5
    expect(estimateOf(scopeTtrl, four, likely).columns.pseudoLabel).toEqual(['7', '7', '7', '7']);
  });

  it('gives each subgroup its own label, by its own voters', () => {
    const params = { subgroupSize: 2, subgroupSamples: { g: [[0, 2], [1]] } };
    const { columns } = estimateOf(scopeTtrl, four, params);
    expect(columns.pseudoLabel).toEqual(['7', '7', '8', '8']);
    expect(columns.trajectoryReward).toEqual([1, 0, 0, 1]);
  });

  it('lets no answer win by nothing, and the first seen win a tie', () => {
    const answers = ['b', null, 'a'];
    const weights = Float64Array.of(1, 5, 1);
    expect(pseudoLabel([2, 0], answers, weights, false)).toBe('a');
    expect(pseudoLabel([1], answers, weights, false)).toBeNull();
    // dropped from the answers only: the vote of b weighs what who said nothing weighs
    expect(pseudoLabel([2, 1, 0], ['b', null, 'a'], Float64Array.of(1, 5, 2), false)).toBe('a');
    expect(pseudoLabel([2, 1, 0], ['b', null, 'a'], Float64Array.of(1, 5, 2), true)).toBe('b');
    expect(estimateOf(scopeTtrl, [answered(null, [1]), answered('a', [1])], all).columns.trajectoryReward).toEqual([0, 1]); // prettier-ignore
  });

  it('draws the same voters from the same seed, and others from another', () => {
    const many = Array.from({ length: 12 }, (_, i) => answered(String(i), [i + 1]));
    const labels = (seed: number) =>
      estimateOf(scopeTtrl, many, { subgroupSize: 1, votesPerSubgroup: 1, seed }).columns.pseudoLabel;
    expect(labels(1)).toEqual(labels(1));
    expect(labels(1)).not.toEqual(labels(2));
  });

  it('draws nobody twice', () => {
    const many = Array.from({ length: 9 }, (_, i) => answered(String(i), [i + 1]));
    // all nine vote in every subgroup, so the heaviest wins everywhere
    const { columns } = estimateOf(scopeTtrl, many, { subgroupSize: 2, votesPerSubgroup: 9 });
    expect(columns.pseudoLabel).toEqual(many.map(() => '8'));
  });

  it('chooses among sizes that no other beats in both', () => {
    const candidates = [[1, 0.9, 1.8], [2, 0.8, 1.9], [4, 0.7, 1.5], [8, 0.95, 1]].map(([subgroupSize, rewardRate, diversity]) => ({ subgroupSize, rewardRate, diversity })); // prettier-ignore
    const { pareto, chosen, normReward } = chooseSize(candidates, 0.7);
    expect(pareto).toEqual([true, true, false, true]);
    expect(normReward[2]).toBeNaN();
    expect(chosen).toBe(0);
    // near in both beats best in one, because the distance is of squares
    expect(chooseSize(candidates.slice(0, 1).concat({ subgroupSize: 2, rewardRate: 1, diversity: 1.5 }, { subgroupSize: 8, rewardRate: 0.8, diversity: 2 }), 0.3).chosen).toBe(0); // prettier-ignore
    expect(chooseSize(candidates, 1).chosen).toBe(3);
    expect(chooseSize(candidates, 0).chosen).toBe(1);
  });

  it('searches the size with the same labels that it then gives', () => {
    const bySize = { '1': { g: [[0], [1], [2], [3]] }, '4': { g: [[0, 1, 2, 3]] } };
    const params = { searchSubgroupSize: true, candidateSizes: [1, 4], subgroupSamplesBySize: bySize };
    const { columns } = estimateOf(scopeTtrl, four, params);
    expect(columns['candidates.rewardRate']).toEqual([1, 0.5]);
    expect(columns['candidates.diversity']).toEqual([2, 1]);
    expect(columns.chosenSubgroupSize).toBe(1);
  });

  it('says that answers are missing only where none was ever recorded', () => {
    const { finalAnswer: _, ...signals } = four[0].signals;
    expect(() => creditOf(scopeTtrl, [{ ...four[0], signals }])).toThrow('trajectory.finalAnswer');
    expect([...creditOf(scopeTtrl, [answered(null, [1]), answered(null, [2])]).values]).toEqual([0, 0]);
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(scopeTtrl, [answered('a', [1]), answered('a', [2])]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(scopeTtrl, [answered('a', [1])], { epsilon: 0 }).values, [1], 1e-12);
    expect([...creditOf(scopeTtrl, [answered('a', [1])], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
