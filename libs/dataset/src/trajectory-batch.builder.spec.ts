import type { Turn } from '#lib/protocol';
import { describe, expect, it } from 'vitest';
import { numbers, rowCount } from './trajectory-batch.js';
import { trajectoryBatch } from './trajectory-batch.builder.js';

const record = (id: string, group: string, trainingStep: number, turns: Turn[] = [], rest: object = {}) => ({
  id,
  group,
  trainingStep,
  turns,
  ...rest,
});

describe('trajectoryBatch', () => {
  it('rounds numbers of tokens to float32, as they are stored, unless told to keep them', () => {
    const records = [record('a', 'g', 0, [{ tokens: { logprob: [-0.1, null], flag: { f32: 'AACAPwAAAEA=' } } }])];
    expect([...numbers(trajectoryBatch(records), 'token.logprob')!]).toEqual([Math.fround(-0.1), NaN]);
    const exact = trajectoryBatch(records, { exactTokens: true });
    expect([...numbers(exact, 'token.logprob')!]).toEqual([-0.1, NaN]);
    expect([...numbers(exact, 'token.flag')!]).toEqual([1, 2]);
  });

  it('keys groups by training step and name', () => {
    const batch = trajectoryBatch([record('a', 'g', 0), record('b', 'h', 0), record('c', 'g', 1), record('d', 'g', 0)]);
    expect([...batch.groupOf]).toEqual([0, 1, 2, 0]);
    expect(batch.groups).toEqual(['g', 'h', 'g']);
  });

  it('gives equal texts equal keys, and chat messages by their canonical spelling', () => {
    const chat = [{ role: 'user', content: 'hi' }];
    const sameChat = [{ content: 'hi', role: 'user' }];
    const batch = trajectoryBatch([
      record('a', 'g', 0, [{ state: 's' }, { state: chat }, {}, { state: sameChat }, { state: 's' }]),
    ]);
    expect([...batch.stateKey]).toEqual([0, 1, -1, 1, 0]);
    expect(batch.texts!.states[1]).toBe('[{"content":"hi","role":"user"}]');
  });

  it('keeps what was not said apart from zero', () => {
    const batch = trajectoryBatch([
      record('a', 'g', 0, [{ reward: 0 }, {}, { reward: null }], { outcomeReward: 1, success: true }),
      record('b', 'g', 0, [], { success: 0 }),
    ]);
    expect([...numbers(batch, 'turn.reward')!]).toEqual([0, NaN, NaN]);
    expect([...numbers(batch, 'trajectory.outcomeReward')!]).toEqual([1, NaN]);
    expect([...numbers(batch, 'trajectory.success')!]).toEqual([1, 0]);
    expect(numbers(batch, 'turn.valueEstimate')).toBeNull();
  });

  it('lays tokens end to end and fills turns that lack a column', () => {
    const turns = [{ tokens: { logprob: [-1, -2], entropy: [0.5, 0.25] } }, {}, { tokens: { logprob: [-3] } }];
    const batch = trajectoryBatch([record('a', 'g', 0, turns)]);
    expect([...batch.tokenOffsets]).toEqual([0, 2, 2, 3]);
    expect(rowCount(batch, 'token')).toBe(3);
    expect([...numbers(batch, 'token.logprob')!]).toEqual([-1, -2, -3]);
    expect([...numbers(batch, 'token.entropy')!]).toEqual([0.5, 0.25, NaN]);
  });

  it('keeps text and structured signals in their kind', () => {
    const batch = trajectoryBatch([record('a', 'g', 0, [{ signals: { subgoal: 'find', votes: [1, 0] } }, {}])]);
    expect(batch.columns.get('turn.subgoal')).toEqual({ kind: 'text', values: ['find', null] });
    expect(batch.columns.get('turn.votes')).toEqual({ kind: 'json', values: [[1, 0], null] });
  });

  it('finds the parent of a branch where it is in the batch', () => {
    const parent = { trajectory: 'a', turn: 2 };
    const batch = trajectoryBatch([record('a', 'g', 0), record('b', 'g', 0, [], { parent })]);
    expect([...batch.parentOf]).toEqual([-1, 0]);
    expect([...batch.parentTurn]).toEqual([-1, 2]);
  });
});

it('takes token columns by their own names only, whatever every object has', () => {
  const names = ['constructor', '__proto__', 'toString'];
  const tokens = JSON.parse('{"constructor": [1, 2], "__proto__": [3, 4], "toString": ["a", "b"]}');
  const { columns } = trajectoryBatch([
    { id: 'a', group: 'g', trainingStep: 0, turns: [{ tokens: { logprob: [0] } }, { tokens }] },
  ]);
  expect(names.map((name) => Array.from(columns.get(`token.${name}`)!.values))).toEqual([
    [NaN, 1, 2],
    [NaN, 3, 4],
    [null, 'a', 'b'],
  ]);
});

it('makes a thousand columns of a level and no more, the protocol its own fields among them', () => {
  const turns = Array.from({ length: 1_500 }, (_, i) => ({ reward: 1, signals: { [`s${i}`]: i } }));
  const { columns } = trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns }]);
  expect(columns.size).toBe(1_000);
  expect(columns.has('turn.reward')).toBe(true);
});

it('makes few columns of many rows, however many names there are', () => {
  const names = Array.from({ length: 1_000 }, (_, i) => [`s${i}`, 1] as const);
  const tokens = Object.fromEntries(names.map(([name]) => [name, [1]]));
  const turns = [{ tokens }, ...Array.from({ length: 100_000 }, () => ({}))];
  const { columns } = trajectoryBatch([{ id: 'a', group: 'g', trainingStep: 0, turns }]);
  expect(columns.size).toBe(167);
});
