import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { recyclingFailures } from './recycling-failures.js';

const judged = (outcome: number, firstError: number, turns: number) => ({
  ...rollout('g', outcome, Array.from({ length: turns }, () => ({}))), // prettier-ignore
  signals: { firstError },
});
const three = [judged(1, -1, 2), judged(0, 1, 2), judged(0, 1, 3)];
/** A corrected branch of the second: shares its first turn. */
const corrected = (tokens?: { logprob: number[]; updatedLogprob: number[] }) => ({
  ...rollout('g', 1, [{}, { ...(tokens && { tokens }) }]),
  parent: { trajectory: three[1].id, turn: 0 },
  signals: { firstError: -1, policySource: 'offPolicy' },
});

describe('recycling-failures', () => {
  it('gives the numbers of its page', () => {
    const { columns, turnAdvantage } = estimateOf(recyclingFailures, three);
    expectNumbers(columns.baseAdvantage, [1.1547, -0.5773, -0.5773], 1e-4);
    expectNumbers(turnAdvantage, [1.1547, 1.1547, 0, -0.5773, 0, -0.5773, -0.5773], 1e-4);
  });

  it('lets a corrected branch into the comparison, and pays what it did not share', () => {
    const { columns, turnAdvantage } = estimateOf(recyclingFailures, [...three, corrected()]);
    expectNumbers(columns.baseAdvantage, [0.866, -0.866, -0.866, 0.866], 1e-3);
    expectNumbers((turnAdvantage as number[][])[3], [0, 0.866], 1e-3);
    expect((columns.offPolicy as number[][])[3]).toEqual([0, 1]);
  });

  it('weighs an off-policy turn by how likely it has become, up to a cap', () => {
    const likelier = corrected({ logprob: [-2, -1], updatedLogprob: [-1.5, -1] });
    const weights = (params: object) =>
      estimateOf(recyclingFailures, [...three, likelier], params).columns.creditWeight;
    expect((weights({}) as number[][])[3]).toEqual([0, 1]);
    expectNumbers((weights({ ratioCap: 9 }) as number[][])[3], [0, Math.exp(0.5)], 1e-6);
    const rarer = corrected({ logprob: [-1], updatedLogprob: [-2] });
    const { columns } = estimateOf(recyclingFailures, [...three, rarer]);
    expectNumbers((columns.creditWeight as number[][])[3], [0, Math.exp(-1)], 1e-6);
  });

  it('leaves corrected branches out where it is told to', () => {
    const without = estimateOf(recyclingFailures, three).turnAdvantage as number[][];
    const given = estimateOf(recyclingFailures, [...three, corrected()], { includeRecycled: false }).turnAdvantage;
    expect(given).toEqual([...without, [0, 0]]);
  });

  it('is GRPO on every turn where prefixes are kept', () => {
    const kept = estimateOf(recyclingFailures, three, { prefixCredit: 'keep', epsilon: 0 }).turnAdvantage;
    const [up, down] = [2 / 3 / Math.sqrt(1 / 3), -1 / 3 / Math.sqrt(1 / 3)];
    expectNumbers(kept, [up, up, down, down, down, down, down], 1e-12);
  });

  it('spares no prefix of a trajectory that succeeded', () => {
    const given = [
      { ...judged(1, 1, 2), success: true },
      { ...judged(0, 1, 2), success: false },
    ];
    expectNumbers(creditOf(recyclingFailures, given, { epsilon: 0 }).values, [Math.SQRT1_2, Math.SQRT1_2, 0, -Math.SQRT1_2], 1e-12); // prettier-ignore
  });

  it('gives 0 to a group that agrees, and a group of one its reward or 0', () => {
    expect([...creditOf(recyclingFailures, [judged(1, -1, 1), judged(1, 0, 1)]).values]).toEqual([0, 0]);
    expectNumbers(creditOf(recyclingFailures, [judged(1, -1, 1)], { epsilon: 0 }).values, [1], 1e-12);
    expect([...creditOf(recyclingFailures, [judged(1, -1, 1)], { singleton: 'zero' }).values]).toEqual([0]);
  });
});
