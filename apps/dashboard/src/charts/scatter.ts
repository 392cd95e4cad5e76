import type { EChartsCoreOption } from 'echarts/core';
import { credit } from '../text/numbers.js';
import { base, valueAxis } from './kit.js';
import type { Palette } from './palette.js';

export interface Scatter {
  readonly xName: string;
  readonly yName: string;
  /** [points] */
  readonly x: Float64Array;
  /** [points] */
  readonly y: Float64Array;
  /** written above the numbers in the tooltip */
  readonly caption: (point: number) => string;
}

/** As docs/comparison.md takes credit for 0. */
const SMALL = 1e-8;

/** Points of a plane with both zeros marked. Where the two have opposite signs they stand out. */
export function scatter({ xName, yName, x, y, caption }: Scatter, palette: Palette): EChartsCoreOption {
  const [below, , , , above] = palette.diverging;
  const colour = (point: number) => {
    if (Math.min(Math.abs(x[point]), Math.abs(y[point])) <= SMALL) return palette.muted;
    return x[point] * y[point] < 0 ? below : above;
  };
  const axis = (name: string, nameGap: number) => ({
    ...valueAxis(palette, name),
    nameGap,
    axisLabel: { color: palette.muted, hideOverlap: true, formatter: (value: number) => credit(value, 1) },
  });
  return {
    ...base(palette),
    grid: { left: 56, right: 22, top: 14, bottom: 40 },
    tooltip: {
      ...(base(palette).tooltip as object),
      formatter: ({ value: [, , point] }: { value: readonly number[] }) =>
        `${caption(point)}\n${xName} ${credit(x[point])}\n${yName} ${credit(y[point])}`,
    },
    xAxis: axis(xName, 24),
    yAxis: axis(yName, 42),
    series: [
      {
        type: 'scatter',
        symbolSize: 5,
        data: Array.from(x, (_, point) => ({
          value: [x[point], y[point], point],
          itemStyle: { color: colour(point), opacity: 0.45 },
        })),
        markLine: {
          silent: true,
          symbol: 'none',
          label: { show: false },
          lineStyle: { color: palette.muted, type: 'solid', width: 1 },
          data: [{ xAxis: 0 }, { yAxis: 0 }],
        },
      },
    ],
  };
}
