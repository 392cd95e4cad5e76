import { describe, expect, it } from 'vitest';
import { evidenceText } from './evidence-text.js';
import { bytes, compact, count, counted, decimal, duration, instant, percent } from './numbers.js';
import { fitted } from './fitted.js';
import { printable } from './printable.js';
import { ProgressBar, progressLine } from './progress-bar.js';
import { formatTable, onOneLine } from './table.js';

describe('a table', () => {
  it('aligns its columns and leaves no blank at the end of a line', () => {
    const table = formatTable([['name', 'n']], [['a', '1,000'], ['long', '2'], ['–']], ['left', 'right']);
    expect(table.split('\n')).toEqual(['name      n', '────  ─────', 'a     1,000', 'long      2', '–']);
  });

  it('has headings over several columns, which make none of them wider', () => {
    const table = formatTable(
      [
        ['', { over: 2, text: 'x' }],
        ['k', 'aa', 'bb'],
      ],
      [['1', '22', '33']],
      ['left', 'right', 'right'],
    );
    expect(table.split('\n')).toEqual(['   ─ x ──', 'k  aa  bb', '─  ──  ──', '1  22  33']);
  });

  it('keeps a cell on its line, whatever it holds', () => {
    expect(formatTable([], [['two\nlines', '\u001b[31mred']], ['left', 'left'])).toBe('two lines  [31mred');
  });
});

describe('text', () => {
  it('goes on below its last column where a screen is too narrow', () => {
    const lines = ['pass-at-k  pass@1 0.6  one try succeeds in 66 %, one of 8 in 76 %', '  see step 25: 12 of 12 groups without a signal', '─────────  ──────────  ────────────────────────']; // prettier-ignore
    expect(fitted(lines.join('\n'), 47).split('\n')).toEqual([
      'pass-at-k  pass@1 0.6  one try succeeds in',
      '                       66 %, one of 8 in 76 %',
      '  see step 25: 12 of 12 groups without a signal',
      '─────────  ──────────  ────────────────────────',
    ]);
    expect(fitted(lines[1], 30).split('\n')).toEqual(['  see step 25: 12 of 12 groups', '  without a signal']);
    expect(fitted(lines[2], 15)).toBe('─────────  ────');
    // no room for a column: as it was
    expect(fitted(lines[0], 46)).toBe(lines[0]);
    expect(fitted(`  ${'x'.repeat(40)} y`, 30)).toBe(`  ${'x'.repeat(40)}\n  y`);
  });

  it('cannot give orders to a terminal', () => {
    expect(printable('\u001b]0;title\u0007a\u009b2Jb\r\n\tc')).toBe(']0;titlea2Jb\n\tc');
  });

  it('is cut at a whole letter', () => {
    expect(onOneLine('a\n  b', 10)).toBe('a b');
    expect(onOneLine('😀😀😀😀', 3)).toBe('😀😀…');
  });
});

describe('numbers', () => {
  it.each([
    [count(2454), '2,454'],
    [count(null), '–'],
    [counted(1, 'group'), '1 group'],
    [counted(2, 'batch', 'batches'), '2 batches'],
    [decimal(-0.001), '0.00'],
    [decimal(-0.5), '−0.50'],
    [decimal(NaN), '–'],
    [compact(0), '0'],
    [compact(0.42), '0.4200'],
    [compact(-1.23e-7), '−1.2e−7'],
    [compact(-3), '−3'],
    [percent(0.524), '52 %'],
    [bytes(999), '999 B'],
    [bytes(31_500_000), '31.5 MB'],
    [instant('2026-11-21T13:50:00Z'), '2026-11-21 13:50'],
    [instant('1970-01-01T00:00:00Z'), 'not dated'],
    [instant(null), '–'],
    [duration(8.4), '8 s'],
    [duration(200), '3 min 20 s'],
    [duration(7500), '2 h 5 min'],
  ])('are written as %s', (written, expected) => expect(written).toBe(expected));
});

describe('a progress bar', () => {
  const screen = (isTTY: boolean) => {
    const written: string[] = [];
    return { isTTY, columns: 60, written, write: (text: string) => written.push(text) };
  };

  it('is for terminals alone, and leaves nothing behind', () => {
    const [terminal, pipe] = [screen(true), screen(false)];
    for (const each of [terminal, pipe]) {
      const bar = new ProgressBar('working', each);
      bar.update({ done: 1, total: 4, detail: '1 of 4', secondsLeft: 9 });
      bar.update({ done: 2, total: 4 }); // too soon to be worth drawing
      bar.end();
    }
    expect(pipe.written).toEqual([]);
    expect(terminal.written).toEqual([
      '\r\u001b[2Kworking  ██████░░░░░░░░░░░░░░░░░░  25 %  1 of 4  9 s left',
      '\r\u001b[2K',
    ]);
  });

  it('keeps to its line', () => {
    expect([...progressLine('working', { done: 9, total: 4, detail: 'much more than fits' }, 40)]).toHaveLength(40);
    expect(progressLine('x', { done: 0, total: 0, detail: '3 MB' }, 40)).toBe('x  3 MB');
  });
});

describe('a place where something is to be seen', () => {
  const nowhere = { trainingStep: 3, group: null, trajectory: null, turn: null, note: '2 of 8 solved' };
  it.each([
    [{}, 'step 3: 2 of 8 solved'],
    [{ group: 'easy' }, 'easy in step 3: 2 of 8 solved'],
    [{ group: 'easy', trajectory: 'easy.3' }, 'easy.3 in step 3: 2 of 8 solved'],
    [{ group: 'easy', trajectory: 'easy.3', turn: 0 }, 'turn 0 of easy.3 in step 3: 2 of 8 solved'],
  ])('is named as closely as it is known: %j', (place, text) =>
    expect(evidenceText({ ...nowhere, ...place })).toBe(text),
  );
});
