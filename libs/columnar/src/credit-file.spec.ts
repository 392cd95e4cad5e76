import type { Column, Credit } from '#lib/credit';
import { trajectoryBatch, type Level } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { creditOfTurn, NO_CREDIT, type CreditOfTurn } from './credit-of-turn.js';
import { encodeCredit, type CreditToEncode } from './encode-credit.js';
import { openCredit } from './open-credit.js';

// a: 2 turns of 2 and 0 tokens; b: no turn; c: 1 turn of 1 token
const trajectories = trajectoryBatch([
  {
    id: 'a',
    group: 'g',
    trainingStep: 4,
    turns: [{ tokens: { logprob: [-1, -2], mask: [1, 0] } }, { tokens: { logprob: [] } }],
  },
  { id: 'b', group: 'h', trainingStep: 4, turns: [] },
  { id: 'c', group: 'g', trainingStep: 4, turns: [{ tokens: { logprob: [-3], mask: [1] } }] },
]);
const ROWS = { trajectory: 3, turn: 3, token: 3, group: 2, shard: 1 } as const;

const numbersAt = (level: Column['level']): Column => ({
  level,
  values: Float64Array.from({ length: ROWS[level] }, (_, i) => (i === 1 ? NaN : i + 0.5)),
});
const textsAt = (level: Column['level']): Column => ({
  level,
  values: Array.from({ length: ROWS[level] }, (_, i) => (i === 1 ? null : `é${i % 2}`)),
});
const listsAt = (level: Column['level']): Column => ({
  level,
  values: Float64Array.of(1, 2, 3),
  offsets: Int32Array.of(0, 2, 3, 3).subarray(0, ROWS[level] + 1),
});
const COLUMN_LEVELS = ['trajectory', 'turn', 'token', 'group', 'shard'] as const;
const explain = Object.fromEntries([
  ...COLUMN_LEVELS.flatMap((level) => [
    [`${level}Number`, numbersAt(level)],
    [`${level}Text`, textsAt(level)],
  ]),
  ...COLUMN_LEVELS.slice(0, 3).map((level) => [`${level}List`, listsAt(level)]),
  ['groupList', { level: 'group', values: ['x', 'y', null], offsets: Int32Array.of(0, 1, 3) }],
  ['labels', { ...numbersAt('turn'), partition: true }],
  // names that the file's own columns have
  ['credit', numbersAt('turn')],
  ['turns', numbersAt('trajectory')],
]) as Record<string, Column>;

const creditAt = (level: Level): Credit => ({ level, values: Float64Array.of(0.25, NaN, -1), explain });
const file = (credit: Credit, more: Partial<CreditToEncode> = {}): CreditToEncode => ({
  estimator: 'gigpo',
  version: 2,
  params: { omega: 0.5, mode: 'mean' },
  trajectories,
  credit,
  warnings: ['a group of one'],
  ...more,
});

describe('a credit file', () => {
  it.each(['trajectory', 'turn', 'token'] as const)('gives back credit per %s with all it was made of', (level) => {
    const opened = openCredit(encodeCredit(file(creditAt(level))));
    expect(opened.credit).toEqual(creditAt(level));
    expect(opened).toMatchObject({
      estimator: 'gigpo',
      version: 2,
      params: { omega: 0.5, mode: 'mean' },
      warnings: ['a group of one'],
      trajectories: ['a', 'b', 'c'],
      turnOffsets: trajectories.turnOffsets,
      tokenOffsets: trajectories.tokenOffsets,
    });
  });

  it('views the bytes of its file, and is the same again whatever the order of its names', () => {
    const bytes = encodeCredit(file(creditAt('turn')));
    expect(openCredit(bytes).credit.values.buffer).toBe(bytes.buffer);
    const reordered = Object.fromEntries(Object.entries(explain).toReversed());
    const again = file({ ...creditAt('turn'), explain: reordered }, { params: { mode: 'mean', omega: 0.5 } });
    expect(encodeCredit(again)).toEqual(bytes);
  });

  it('holds a shard without trajectories', () => {
    const empty = file({ level: 'turn', values: new Float64Array() }, { trajectories: trajectoryBatch([]) });
    expect(openCredit(encodeCredit(empty)).credit).toEqual({ level: 'turn', values: new Float64Array(), explain: {} });
  });

  it('holds columns that are one array, or views of one', () => {
    // eight values: nothing is padded, so that the views follow each other as they lie
    const all = Float64Array.from({ length: 16 }, (_, i) => i);
    const eight = trajectoryBatch([
      { id: 'a', group: 'g', trainingStep: 0, turns: Array.from({ length: 8 }, () => ({})) },
    ]);
    const views = { aSame: all.subarray(0, 8), bLater: all.subarray(4, 12), cNext: all.subarray(8, 16) };
    const explained = Object.entries(views).map(([name, values]) => [name, { level: 'turn', values }]);
    const credit: Credit = { level: 'turn', values: views.aSame, explain: Object.fromEntries(explained) };
    const opened = openCredit(encodeCredit(file(credit, { trajectories: eight })));
    expect(opened.credit).toEqual(credit);
  });

  it('is refused when it is damaged', () => {
    const bytes = encodeCredit(file(creditAt('turn')));
    bytes[200] ^= 1;
    expect(() => openCredit(bytes)).toThrow(expect.objectContaining({ code: 'segment.damaged' }));
  });
});

describe('creditOfTurn', () => {
  const opened = (level: Level) => openCredit(encodeCredit(file(creditAt(level))));

  it('gives each turn the credit of its trajectory, its own, or the mean of its tokens with mask 1', () => {
    const credits = (level: Level) =>
      [
        ['a', 0],
        ['a', 1],
        ['c', 0],
      ].map(([id, turn]) => creditOfTurn(opened(level), id as string, turn as number).credit);
    expect(credits('trajectory')).toEqual([0.25, 0.25, -1]);
    expect(credits('turn')).toEqual([0.25, null, -1]);
    expect(credits('token')).toEqual([0.25, null, -1]);
    const masked = openCredit(encodeCredit(file({ level: 'token', values: Float64Array.of(0.25, 8, -1) })));
    expect(creditOfTurn(masked, 'a', 0).credit).toBe(0.25);
  });

  it('gives each token its own where tokens carry the credit, and says what carries it', () => {
    const tokens = ({ level, tokenCredit }: CreditOfTurn) => [level, tokenCredit];
    const file = opened('token');
    expect(tokens(creditOfTurn(file, 'a', 0))).toEqual(['token', [0.25, null]]);
    expect(tokens(creditOfTurn(file, 'a', 1))).toEqual(['token', []]);
    expect(tokens(creditOfTurn(file, 'c', 0))).toEqual(['token', [-1]]);
    expect(tokens(creditOfTurn(opened('turn'), 'a', 0))).toEqual(['turn', null]);
    expect(tokens(creditOfTurn(file, 'nobody', 0))).toEqual([null, null]);
  });

  it('says what the credit was made of, from every level', () => {
    expect(creditOfTurn(opened('turn'), 'c', 0).explain).toMatchObject({
      trajectoryNumber: 2.5,
      turnText: 'é0',
      groupNumber: 0.5,
      shardNumber: 0.5,
      tokenNumber: [2.5],
      turnList: [],
      groupList: ['x'],
    });
    expect(creditOfTurn(opened('turn'), 'a', 0).explain).toMatchObject({ tokenNumber: [0.5, null], turnList: [1, 2] });
  });

  it('says nothing of a turn or a trajectory that is not there', () => {
    expect(creditOfTurn(opened('turn'), 'a', 2).credit).toBeNull();
    expect(creditOfTurn(opened('trajectory'), 'b', 0)).toEqual(NO_CREDIT);
    expect(creditOfTurn(opened('turn'), 'nobody', 0)).toEqual(NO_CREDIT);
  });
});
