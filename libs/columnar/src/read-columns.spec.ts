import { Field } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { intColumn, listColumn, structData, textColumn, type ArrowColumn } from './arrow-columns.js';
import { columnsOf, intsOf, listOf, textsOf, type ReadColumn } from './read-columns.js';

const read = ({ name, data }: ArrowColumn): ReadColumn => ({ field: new Field(name, data.type, true), data });

describe('integers with a range', () => {
  const ints = (...values: number[]) => intsOf(read(intColumn('row', Int32Array.from(values))), [-1, 3]);

  it('are read where they lie in it', () => {
    expect([...ints(-1, 0, 2)]).toEqual([-1, 0, 2]);
    expect([...ints()]).toEqual([]);
  });

  it.each([-2, 3, -(2 ** 31), 2 ** 31 - 1])('are refused by name, value and place: %d', (outside) => {
    expect(() => ints(0, outside, 1)).toThrow(`row says ${outside} at 1`);
    expect(() => ints(0, 1, outside)).toThrow(`row says ${outside} at 2`);
  });

  it('may be any where none is asked for', () => {
    const any = Int32Array.of(-(2 ** 31), 2 ** 31 - 1);
    expect([...intsOf(read(intColumn('row', any)))]).toEqual([...any]);
    expect([...intsOf(read(intColumn('row', any)), [-(2 ** 31), 2 ** 31])]).toEqual([...any]);
  });
});

describe('the offsets of a list', () => {
  const turns = (...offsets: number[]) =>
    listOf(read(listColumn('turns', Int32Array.from(offsets), [intColumn('turn', new Int32Array(4))]))).offsets;

  it('are read where they rise', () => {
    expect([...turns(0, 0, 3, 4)]).toEqual([0, 0, 3, 4]);
  });

  it.each([
    [[0, 3, 2, 4], 2],
    [[0, -1, 2, 4], 1],
    [[0, 2 ** 31 - 1, -(2 ** 31), 4], 2],
    [[-1, 3, 3, 4], 0],
  ])('are refused where they fall: %j', (offsets, at) => {
    expect(() => turns(...offsets)).toThrow(`the offsets of turns fall at ${at}`);
  });
});

it('reads a column of texts that says nothing', () => {
  const parent = textColumn('parent', [null, null]);
  const columns = columnsOf(structData([parent, textColumn('id', ['a', 'né'])], 2));
  expect([...columns.values()].map(textsOf)).toEqual([
    [null, null],
    ['a', 'né'],
  ]);
});
