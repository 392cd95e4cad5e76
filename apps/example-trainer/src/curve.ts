const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

export interface CurveSize {
  /** columns at most; more training steps than that share columns, each showing their mean */
  readonly width?: number;
  /** rows of the plot */
  readonly height?: number;
}

/** A rate in [0, 1] by training step, from 0, as a chart of block characters with its axes. No line ends in a blank. */
export function formatCurve(rates: readonly number[], { width = 60, height = 6 }: CurveSize = {}): string {
  const columns = binned(rates, width);
  const rows = Array.from({ length: height }, (_, i) => {
    const floor = height - 1 - i;
    const bars = columns.map((rate) => barIn(rate * height - floor)).join('');
    return `${axisLabel(i, height)} ┤${bars}`.trimEnd();
  });
  const last = String(Math.max(0, rates.length - 1));
  const axis = `    0 % └${'─'.repeat(columns.length)}`;
  const steps = `         0${last.padStart(columns.length - 1)}   training step`;
  return ['success rate', ...rows, axis, steps].join('\n');
}

/** One character per training step, the latest `width` of them. */
export function sparkline(rates: readonly number[], width = 40): string {
  return rates
    .slice(-width)
    .map((rate) => EIGHTHS[1 + Math.round(clamped(rate) * 7)])
    .join('');
}

/** Labels the top of the plot and its middle; the bottom is the axis. */
function axisLabel(row: number, height: number): string {
  const label = row === 0 ? '100 %' : row === height / 2 ? '50 %' : '';
  return label.padStart(7);
}

function barIn(rowsLeft: number): string {
  return EIGHTHS[Math.round(clamped(rowsLeft) * 8)];
}

/** The values in at most `width` bins as equal as they can be, each as its mean. */
function binned(values: readonly number[], width: number): number[] {
  const bins = Math.min(values.length, width);
  return Array.from({ length: bins }, (_, bin) => {
    const members = values.slice(
      Math.floor((bin * values.length) / bins),
      Math.floor(((bin + 1) * values.length) / bins),
    );
    return members.reduce((sum, value) => sum + value, 0) / members.length;
  });
}

function clamped(value: number): number {
  return Math.min(1, Math.max(0, value));
}
