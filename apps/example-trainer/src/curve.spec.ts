import { describe, expect, it } from 'vitest';
import { formatCurve, sparkline } from './curve.js';

describe('formatCurve', () => {
  it('draws a bar per training step, in eighths of a row, with its axes', () => {
    expect(formatCurve([0, 0.125, 0.25, 0.5, 0.75, 1], { height: 2 })).toBe(
      ['success rate', '  100 % ┤    ▄█', '   50 % ┤ ▂▄███', '    0 % └──────', '         0    5   training step'].join(
        '\n',
      ),
    );
  });

  it('lets training steps share a bar where there are more than columns, and loses none', () => {
    const [, bars] = formatCurve([0, 0.5, 0.5, 1], { width: 2, height: 1 }).split('\n');
    expect(bars).toBe('  100 % ┤▂▆');
  });

  it('stays within its rows for what is no rate, and draws nothing of nothing', () => {
    expect(formatCurve([-1, 2], { height: 1 }).split('\n')[1]).toBe('  100 % ┤ █');
    expect(formatCurve([], { height: 1 }).split('\n')[1]).toBe('  100 % ┤');
  });
});

describe('sparkline', () => {
  it('shows the latest steps, one character each', () => {
    expect(sparkline([0, 0.5, 1])).toBe('▁▅█');
    expect(sparkline([0, 0.5, 1], 2)).toBe('▅█');
  });
});
