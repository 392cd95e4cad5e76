import { describe, expect, it } from 'vitest';
import {
  chosenStates,
  jsonObject,
  nameList,
  paramsOfEach,
  positiveNumber,
  stepRange,
  wholeNumber,
  statesBy,
} from './options.js';

describe('options', () => {
  it.each([
    ['0..39', { from: 0, to: 39 }],
    ['7', { from: 7, to: 7 }],
    ['7..', { from: 7 }],
    ['9..10', { from: 9, to: 10 }],
    ['..7', { to: 7 }],
  ])('read the training steps %s', (text, range) => expect(stepRange(text)).toEqual(range));

  it.each(['', '..', '3..1', '10..9', '1-3', 'a..b', '-1..2', '1..2..3'])('refuse %j as training steps', (text) =>
    expect(() => stepRange(text)).toThrow(),
  );

  it('read numbers, names and objects, and refuse what is none', () => {
    expect([wholeNumber('0'), positiveNumber('3'), nameList('a, b')]).toEqual([0, 3, ['a', 'b']]);
    expect(jsonObject('{"a": 1}')).toEqual({ a: 1 });
    for (const wrong of [
      () => wholeNumber('1.5'),
      () => wholeNumber('1e3'),
      () => wholeNumber('99999999999999999'),
      () => positiveNumber('0'),
      () => nameList('a,,b'),
      () => jsonObject('[]'),
      () => jsonObject('{'),
    ])
      expect(wrong).toThrow('expected');
  });
});

describe('params', () => {
  it('are those of every estimator', () => {
    expect(paramsOfEach(['grpo', 'gigpo'], { epsilon: 0 })).toEqual([
      { id: 'grpo', params: { epsilon: 0 } },
      { id: 'gigpo', params: { epsilon: 0 } },
    ]);
  });

  it('are those of each under its name', () => {
    expect(paramsOfEach(['grpo', 'gae'], { gae: { lambda: 0.9 } })).toEqual([
      { id: 'grpo', params: {} },
      { id: 'gae', params: { lambda: 0.9 } },
    ]);
  });
});

describe('--state-identity', () => {
  it.each([
    ['last-observation', { by: 'lastObservation' }],
    ['full-history', { by: 'fullHistory' }],
    ['similarity', { by: 'similarity' }],
    ['similarity:0.9', { by: 'similarity', threshold: 0.9 }],
    ['embedding', { by: 'embedding' }],
    ['embedding:0.8', { by: 'embedding', threshold: 0.8 }],
  ])('%s is read', (text, identity) => expect(statesBy(text)).toEqual(identity));

  it.each([
    '',
    'history',
    'similarity:1',
    'similarity:x',
    'full-history:0.9',
    'similarity:0.9:1',
    'embedding:0',
    'constructor',
  ])('%j is refused', (text) => expect(() => statesBy(text)).toThrow('action-observation'));

  it('says nothing where nothing is chosen, and is whole where something is', () => {
    expect(chosenStates({})).toBeUndefined();
    expect(chosenStates({ excludeGenericStates: true })).toEqual({ by: 'lastObservation', excludeGeneric: true });
    expect(chosenStates({ stateIdentity: { by: 'similarity' } })).toMatchObject({ threshold: 0.95 });
  });
});
