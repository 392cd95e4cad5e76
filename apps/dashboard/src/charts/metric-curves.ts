import type { EChartsCoreOption } from 'echarts/core';
import { decimal } from '../text/numbers.js';
import { base, LINE, stepAxis, valueAxis } from './kit.js';
import type { Palette } from './palette.js';

export interface Curve {
  readonly name: string;
  /** [points], ascending */
  readonly trainingStep: Int32Array;
  /** [points]; NaN: could not be measured */
  readonly value: Float64Array;
}

interface MetricCurvesOptions {
  /** what is measured: a share keeps its whole scale from 0 to 1, so that curves can be compared by eye */
  readonly metric: string;
  readonly palette: Palette;
  /** of the palette, for the first curve; the next ones take the next */
  readonly color?: number;
  /** what the axis shows, whatever this curve has of it; not said: from its first point to its last */
  readonly steps?: readonly [first: number, last: number] | undefined;
}

/** One dash per curve, so that they are not told apart by colour alone. */
const DASHES = ['solid', [6, 3]] as const;

/** A metric over the training steps, of one run or of several. */
export function metricCurves(
  curves: readonly Curve[],
  { metric, palette, color = 0, steps }: MetricCurvesOptions,
): EChartsCoreOption {
  const isShare = /rate|share|success/i.test(metric);
  return {
    ...base(palette),
    grid: { left: 44, right: 14, top: 12, bottom: 34 },
    tooltip: {
      ...(base(palette).tooltip as object),
      trigger: 'axis',
      axisPointer: { lineStyle: { color: palette.muted } },
      valueFormatter: (found: number | null) => decimal(found),
    },
    dataset: curves.map(({ trainingStep, value }) => ({ source: { trainingStep, value } })),
    xAxis: { ...stepAxis(palette, 'training step'), ...(steps && { min: steps[0], max: steps[1] }) },
    yAxis: {
      ...valueAxis(palette, ''),
      ...(isShare ? { min: 0, max: 1, interval: 0.25 } : { scale: true, splitNumber: 3 }),
    },
    series: curves.map(({ name, trainingStep }, i) => ({
      ...LINE,
      name,
      datasetIndex: i,
      color: palette.categories[(color + i) % palette.categories.length],
      lineStyle: { width: 2, type: DASHES[i % DASHES.length] },
      encode: { x: 'trainingStep', y: 'value' },
      sampling: 'lttb',
      ...(curves.length === 1 && { areaStyle: { opacity: 0.07 } }),
      showSymbol: trainingStep.length === 1,
    })),
  };
}

/** The curve of points as they come from the API. */
export function curveOf(
  name: string,
  points: readonly { readonly trainingStep: number; readonly value: number | null }[],
): Curve {
  return {
    name,
    trainingStep: Int32Array.from(points, (point) => point.trainingStep),
    value: Float64Array.from(points, (point) => point.value ?? Number.NaN),
  };
}
