import { textHashes } from '#lib/numeric';
import { expect, it } from 'vitest';
import { withOwnTexts } from './own-texts.js';
import { sliceTrajectories } from './slice.js';
import { hashesOf, laterTexts } from './texts.js';
import { trajectoryBatch } from './trajectory-batch.builder.js';

const batch = trajectoryBatch(
  ['ab', 'cba', ''].map((states, i) => ({
    id: `t${i}`,
    group: 'g',
    trainingStep: 0,
    turns: [...states].map((state) => ({ state, action: state === 'a' ? 'go' : 'look' })),
  })),
);

it('hashes the texts of a batch, and those of a slice as if there had been no others', () => {
  expect(hashesOf(batch.texts!)).toEqual({ states: textHashes(['a', 'b', 'c']), actions: textHashes(['go', 'look']) });
  const own = withOwnTexts(sliceTrajectories(batch, 1, 1));
  expect(hashesOf(own.texts!)).toEqual({ states: textHashes(['c', 'b', 'a']), actions: textHashes(['look', 'go']) });
  const none = withOwnTexts(sliceTrajectories(batch, 2, 1));
  expect(hashesOf(none.texts!)).toEqual({ states: new Uint32Array(0), actions: new Uint32Array(0) });
});

it('takes hashes that are known, once, and makes no text for them, nor for those of a slice', () => {
  const made: string[] = [];
  const make = <T>(what: string, value: T) => {
    made.push(what);
    return value;
  };
  const { states, actions } = batch.texts!;
  const texts = laterTexts(
    () => make('states', states),
    () => make('actions', actions),
    () => make('hashes', hashesOf(batch.texts!)),
  );
  const later = { ...batch, texts };
  const own = withOwnTexts(sliceTrajectories(later, 1, 1));
  expect(made).toEqual([]);
  expect(hashesOf(own.texts!)).toEqual(hashesOf(withOwnTexts(sliceTrajectories(batch, 1, 1)).texts!));
  expect(hashesOf(texts)).toBe(hashesOf(texts));
  expect(made).toEqual(['hashes']);
});

it('does not take the hashes of old states for those of new ones', () => {
  hashesOf(batch.texts!);
  const renamed = { ...batch.texts!, states: ['x', 'y', 'z'] };
  expect(hashesOf(renamed).states).toEqual(textHashes(['x', 'y', 'z']));
});
