import { describe, expect, it } from 'vitest';
import { processBench } from './process-bench.js';

const box = (verdict: string) => [`First \\boxed{9}, then \\boxed{ ${verdict} }.`];
const once = { voting: false };

describe('processBench', () => {
  it('takes the harmonic mean of both accuracies', () => {
    // one of two errors found, three of four correct ones recognised
    const human = [2, 1, -1, -1, -1, -1];
    const said = ['2', '0', '-1', '-1', '-1', '3'].map(box);
    expect(processBench(human, said, once)).toEqual({
      judgeFirstError: [2, 0, -1, -1, -1, 3],
      errorAcc: 50,
      correctAcc: 75,
      f1: 60,
    });
  });

  it('matches nothing with what it cannot read', () => {
    const { judgeFirstError, correctAcc } = processBench([-1, -1], [['I cannot say.'], box('none')], once);
    expect(judgeFirstError).toEqual([null, null]);
    expect(correctAcc).toBe(0);
  });

  it('votes by text, the first seen winning a tie, and reads the first critique alone without voting', () => {
    const critiques = [
      ['no box', ...box('1'), ...box('01'), ...box('01')],
      [...box('2'), ...box('1')],
    ];
    expect(processBench([1, 2], critiques, { voting: true }).judgeFirstError).toEqual([1, 2]);
    expect(processBench([1, 2], critiques, once).judgeFirstError).toEqual([null, 2]);
  });

  it('is 0 where both are 0, and says nothing where a side has no trajectory', () => {
    expect(processBench([0, -1], [box('-1'), box('0')], once).f1).toBe(0);
    expect(processBench([-1], [box('-1')], once)).toMatchObject({ errorAcc: null, correctAcc: 100, f1: null });
    expect(processBench([], [], once)).toEqual({ judgeFirstError: [], errorAcc: null, correctAcc: null, f1: null });
  });
});
