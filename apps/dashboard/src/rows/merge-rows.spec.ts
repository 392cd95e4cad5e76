import { describe, expect, it } from 'vitest';
import { appended, refreshed, type RowsPage } from './merge-rows.js';

const page = (rows: string, hasMore: boolean, count?: number): RowsPage<string> => ({
  edges: [...rows].map((node) => ({ cursor: `after ${node}`, node })),
  hasMore,
  count,
});
const keyOf = (row: string) => row.toLowerCase();
const shown = ({ edges, hasMore, count }: RowsPage<string>) => [edges.map(({ node }) => node).join(''), hasMore, count];

describe('a page that is added to a list', () => {
  it('comes last, and says whether there are more', () => {
    expect(shown(appended(page('ab', true, 4), page('cd', false), keyOf))).toEqual(['abcd', false, 4]);
  });

  it('brings what moved there, so that the list never stands still', () => {
    expect(shown(appended(page('abc', true), page('A', true), keyOf))).toEqual(['bcA', true, undefined]);
  });
});

describe('rows that were asked for again', () => {
  it.each<[string, RowsPage<string>, number, RowsPage<string>, unknown[]]>([
    ['stand where they stood', page('abcdef', true), 2, page('CD', true), ['abCDef', true, undefined]],
    ['let new ones in above', page('abcdef', true, 9), 0, page('xab', true, 10), ['xabcdef', true, 10]],
    ['let new ones in between', page('abcdef', true), 2, page('cxd', true), ['abcxdef', true, undefined]],
    ['end the list where nothing follows', page('abcdef', true), 2, page('cd', false), ['abcd', false, undefined]],
    [
      'end it where one of them is gone: what follows is asked for anew',
      page('abcdef', false),
      1,
      page('bd', true),
      ['abd', true, undefined],
    ],
    [
      'end it where none is known: there may be others between',
      page('abcdef', false),
      0,
      page('xyz', true),
      ['xyz', true, undefined],
    ],
    ['are taken from where they stood before', page('abcdef', true), 3, page('dae', true), ['bcdaef', true, undefined]],
    ['may be none', page('abc', true), 1, page('', false), ['a', false, undefined]],
  ])('%s', (_what, old, at, fresh, expected) => {
    expect(shown(refreshed(old, at, fresh, keyOf))).toEqual(expected);
  });
});
