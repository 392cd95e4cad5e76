import type { EChartsCoreOption } from 'echarts/core';
import { decimal } from '../text/numbers.js';
import { base, LINE, stepAxis, valueAxis } from './kit.js';
import type { Curve } from './metric-curve.js';
import type { Palette } from './palette.js';

const DASHES = ['solid', [6, 3]] as const;

/** The same metric of two runs over the training steps of each, told apart by colour and dash. */
export function twoCurves(curves: readonly Curve[], isShare: boolean, palette: Palette): EChartsCoreOption {
  return {
    ...base(palette),
    grid: { left: 44, right: 14, top: 12, bottom: 34 },
    tooltip: {
      ...(base(palette).tooltip as object),
      trigger: 'axis',
      axisPointer: { lineStyle: { color: palette.muted } },
      valueFormatter: (found: number | null) => decimal(found),
    },
    xAxis: stepAxis(palette, 'training step'),
    yAxis: {
      ...valueAxis(palette, ''),
      ...(isShare ? { min: 0, max: 1, interval: 0.25 } : { scale: true, splitNumber: 3 }),
    },
    series: curves.map(({ name, trainingStep, value }, i) => ({
      ...LINE,
      name,
      color: palette.categories[i],
      lineStyle: { width: 2, type: DASHES[i] },
      data: Array.from(trainingStep, (step, at) => [step, value[at]]),
      showSymbol: trainingStep.length === 1,
    })),
  };
}
