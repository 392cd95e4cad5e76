import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, expectNumbers, rollout } from '../estimator.fixture.js';
import { graft } from './graft.js';

const walk = (success: boolean | number, path: string, finalState: string, group = 'g') => ({
  ...rollout(
    group,
    0,
    Array.from(path, (state) => ({ state })),
  ),
  success: Boolean(success),
  signals: { finalState },
});
const given = [walk(1, 'ABC', 'ok'), walk(0, 'AB', 'fail'), walk(1, 'ABC', 'ok')];
const raw = { normalizeAdvantage: false };

describe('graft', () => {
  it('gives the numbers of its page', () => {
    const { turnAdvantage, columns } = estimateOf(graft, given, { gamma: 0.9, lambda: 0.5 });
    expectNumbers(columns.stateValue, [0.486, 0.54, 0.9, 0.486, 0.54, 0.486, 0.54, 0.9], 1e-12);
    expectNumbers(columns.graphAdvantage, [0, 0.27, 0, 0, -0.54, 0, 0.27, 0], 1e-12);
    expectNumbers(turnAdvantage, [0, 0.57735, 0, 0, -1.1547, 0, 0.57735, 0], 1e-5);
  });

  it('is the temporal difference at λ = 0', () => {
    const { turnAdvantage, columns } = estimateOf(graft, given, { ...raw, gamma: 0.9, lambda: 0 });
    const value = columns.stateValue as number[][];
    expectNumbers(turnAdvantage, [
      [0.9 * value[0][1] - value[0][0], 0.9 * 0.9 - value[0][1], 0],
      [0.9 * value[1][1] - value[1][0], -value[1][1]],
      [0.9 * value[2][1] - value[2][0], 0.9 * 0.9 - value[2][1], 0],
    ]); // prettier-ignore
  });

  it('solves a loop', () => {
    // V(A) = γ/2 · V(A) + γ/2 · 1
    const { columns } = estimateOf(graft, [walk(1, 'AA', 'ok')], { gamma: 0.9 });
    expectNumbers(columns.stateValue, [0.45 / 0.55, 0.45 / 0.55], 1e-12);
  });

  it('averages over what can follow, not over what did', () => {
    // From S both reach A; from A one wins, one loses: the mean of d after A is 0, so λ changes nothing at S.
    const records = [walk(1, 'SA', 'ok'), walk(0, 'SA', 'fail')];
    const { turnAdvantage } = estimateOf(graft, records, { ...raw, gamma: 0.5, lambda: 1 });
    expectNumbers(turnAdvantage, [0, 0.25, 0, -0.25], 1e-12);
  });

  it('feels what follows only behind an end that others left, as the mean of d', () => {
    // B is an end, V = 1, which two others leave for nothing: d = −1 there. V(A) = γ, so d = 0 before it.
    const records = [walk(1, 'A', 'B'), walk(0, 'BC', 'fail'), walk(0, 'BC', 'fail')];
    const { columns } = estimateOf(graft, records, { ...raw, gamma: 0.5, lambda: 1 });
    expectNumbers((columns.graphAdvantage as number[][])[0], [-0.5], 1e-12);
  });

  it('gives a turn that alone left its state its sign, and 0 to none', () => {
    expectNumbers(creditOf(graft, [walk(1, 'A', 'ok'), walk(0, 'B', 'fail')], { lambda: 0 }).values, [0, 0], 1e-12);
    const values = creditOf(graft, [walk(1, 'SA', 'ok'), walk(0, 'SB', 'fail')], { lambda: 0 }).values;
    // V(A) = γ, V(B) = 0, V(S) = γ² / 2; the last turns change nothing
    expectNumbers(values, [Math.SQRT1_2, 0, -Math.SQRT1_2, 0], 1e-5);
  });

  it('takes the mean where trajectories of one end disagree', () => {
    const { columns } = estimateOf(graft, [walk(1, 'A', 'end'), walk(0, 'A', 'end')], { gamma: 0.5 });
    expect(columns.stateValue).toEqual([[0.25], [0.25]]);
  });

  it('gives exactly 0 where all succeed by the same way', () => {
    expect([...creditOf(graft, [walk(1, 'AB', 'ok'), walk(1, 'AB', 'ok')]).values]).toEqual([0, 0, 0, 0]);
  });

  it('lets groups be', () => {
    const alone = estimateOf(graft, [walk(0, 'A', 'ok')]).columns.stateValue as number[][];
    const both = estimateOf(graft, [walk(0, 'A', 'ok'), walk(1, 'A', 'ok', 'h')]).columns.stateValue as number[][];
    expect([alone[0], both[0]]).toEqual([[0], [0]]);
    expect(both[1]).toEqual([0.99]);
  });
});
