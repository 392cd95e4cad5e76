import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinTags, MAX_TAG_VALUES, tagsOf } from './tags.js';

type Signals = Readonly<Record<string, string | number | null>>;

const batch = (...signals: readonly Signals[]) =>
  trajectoryBatch(signals.map((said, i) => ({ id: `t${i}`, group: 'g', trainingStep: 0, signals: said, turns: [] })));
const tags = (...signals: readonly Signals[]) => tagsOf(batch(...signals));

it('are the texts of trajectories, by name, with what they say', () => {
  expect(tags({ taskType: 'pick', split: 'seen', length: 3 }, { taskType: 'clean' }, { taskType: 'pick' })).toEqual([
    ['split', { values: ['seen'], of: Int32Array.of(0, -1, -1) }],
    ['taskType', { values: ['clean', 'pick'], of: Int32Array.of(1, 0, 1) }],
  ]);
  expect(tags({}, {})).toEqual([]);
});

it('are none where a text tells trajectories apart, and not kinds of them', () => {
  const many = Array.from({ length: MAX_TAG_VALUES + 1 }, (_, i) => ({ task: `find ${i}` }));
  expect(tags(...many)).toEqual([['task', { values: null, of: new Int32Array(many.length).fill(-1) }]]);
  const parts = [tags(...many.slice(0, 9)), tags(...many.slice(9))];
  expect(parts.map(([[, { values }]]) => values?.length)).toEqual([9, 8]);
  expect(joinTags(parts, [9, 8])).toEqual(tags(...many));
});

it('are the first sixteen by name', () => {
  const all = Array.from({ length: 20 }, (_, i) => `s${String(i).padStart(2, '0')}`);
  const said = (names: readonly string[]) => tags(Object.fromEntries(names.map((name) => [name, 'x'])));
  expect(said(all).map(([name]) => name)).toEqual(all.slice(0, 16));
  expect(joinTags([said(all.slice(4)), said(all.slice(0, 4))], [1, 1]).map(([name]) => name)).toEqual(all.slice(0, 16));
});

it('join to those of the whole, wherever it was cut', () => {
  const value = fc.constantFrom('a', 'b', 'c', null);
  const rows = fc.array(fc.record({ x: value, y: fc.integer({ min: 0, max: 30 }).map(String) }), { maxLength: 40 });
  fc.assert(
    fc.property(rows, fc.array(fc.nat(40), { maxLength: 3 }), (all, cuts) => {
      const bounds = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
      const parts = bounds.slice(1).map((end, i) => all.slice(bounds[i], end));
      const joined = joinTags(parts.map((part) => tags(...part)), parts.map((part) => part.length)); // prettier-ignore
      // a signal that nobody says is in no batch
      expect(joined.filter(([, { values }]) => values?.length !== 0)).toEqual(
        tags(...all).filter(([, { values }]) => values?.length !== 0),
      );
    }),
  );
});
