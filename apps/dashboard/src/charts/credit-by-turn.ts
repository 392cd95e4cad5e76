import type { EChartsCoreOption } from 'echarts/core';
import { count, credit } from '../text/numbers.js';
import { base, LINE, stepAxis, valueAxis } from './kit.js';
import type { Palette } from './palette.js';

export interface TurnProfile {
  readonly estimator: string;
  /** mean credit of the turns with this index, in spreads of the estimator; NaN: none got that far [turn indexes] */
  readonly mean: Float64Array;
}

const DASHES = ['solid', [6, 3], [2, 3]] as const;

/** Which dash and colour the nth line has: neighbours differ in both, and the first 24 in one. */
export function lineStyle(n: number, { categories }: Palette) {
  const place = n % categories.length;
  const dash = (Math.floor(n / categories.length) + Math.floor(place / 3)) % DASHES.length;
  return { color: categories[place], dash: DASHES[dash] };
}

/**
 * Mean credit by turn index, one line per estimator, over bars of how many turns have that index: the mean of few says
 * little.
 *
 * @param turns of that index [turn indexes]
 */
export function creditByTurn(
  profiles: readonly TurnProfile[],
  turns: Float64Array,
  palette: Palette,
): EChartsCoreOption {
  const index = Int32Array.from(turns, (_, i) => i);
  const columns = Object.fromEntries(profiles.map(({ estimator, mean }) => [estimator, mean]));
  // half a bar beyond the first and the last, so that lines stand over their bars
  const ends = { min: -0.5, max: turns.length - 0.5, containShape: false };
  return {
    ...base(palette),
    grid: [
      { left: 48, right: 14, top: 16, height: 196 },
      { left: 48, right: 14, top: 236, height: 40 },
    ],
    tooltip: { ...(base(palette).tooltip as object), trigger: 'axis' },
    axisPointer: { link: [{ xAxisIndex: 'all' }], lineStyle: { color: palette.muted } },
    dataset: { source: { turn: index, turns, ...columns } },
    xAxis: [
      { ...stepAxis(palette, ''), ...ends, axisLabel: { show: false } },
      {
        ...stepAxis(palette, 'turn index'),
        ...ends,
        gridIndex: 1,
        axisLabel: { color: palette.muted, showMinLabel: false, showMaxLabel: false },
      },
    ],
    yAxis: [
      { ...valueAxis(palette, ''), axisLabel: { color: palette.muted, formatter: (v: number) => credit(v, 1) } },
      {
        ...valueAxis(palette, ''),
        gridIndex: 1,
        splitNumber: 1,
        axisLabel: { color: palette.muted, formatter: count },
      },
    ],
    series: [
      ...profiles.map(({ estimator }, i) => ({
        ...LINE,
        name: estimator,
        color: lineStyle(i, palette).color,
        lineStyle: { width: 2, type: lineStyle(i, palette).dash },
        encode: { x: 'turn', y: estimator },
        tooltip: { valueFormatter: (value: number) => credit(value, 2) },
        ...(i === 0 && {
          markLine: {
            silent: true,
            symbol: 'none',
            label: { show: false },
            lineStyle: { color: palette.muted, type: 'solid', width: 1 },
            data: [{ yAxis: 0 }],
          },
        }),
      })),
      {
        type: 'bar',
        name: 'turns',
        xAxisIndex: 1,
        yAxisIndex: 1,
        color: palette.muted,
        barWidth: '70%',
        encode: { x: 'turn', y: 'turns' },
        tooltip: { valueFormatter: count },
      },
    ],
  };
}
