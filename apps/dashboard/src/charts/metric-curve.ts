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

/** One metric over the training steps. A share keeps its whole scale from 0 to 1, so that curves can be compared by eye. */
export function metricCurve({ name, trainingStep, value }: Curve, palette: Palette, color: string): EChartsCoreOption {
  const isShare = /rate|share|success/i.test(name);
  return {
    ...base(palette),
    grid: { left: 44, right: 14, top: 12, bottom: 34 },
    tooltip: {
      ...(base(palette).tooltip as object),
      trigger: 'axis',
      axisPointer: { lineStyle: { color: palette.muted } },
      valueFormatter: (found: number | null) => decimal(found),
    },
    dataset: { source: { trainingStep, value } },
    dataZoom: [{ type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: 'shift' }],
    xAxis: stepAxis(palette, 'training step'),
    yAxis: {
      ...valueAxis(palette, ''),
      ...(isShare ? { min: 0, max: 1, interval: 0.25 } : { scale: true, splitNumber: 3 }),
    },
    series: [
      {
        ...LINE,
        name,
        color,
        encode: { x: 'trainingStep', y: 'value' },
        sampling: 'lttb',
        areaStyle: { opacity: 0.07 },
        showSymbol: trainingStep.length === 1,
      },
    ],
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
