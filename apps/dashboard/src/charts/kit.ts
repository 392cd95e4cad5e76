import type { EChartsCoreOption } from 'echarts/core';
import type { Palette } from './palette.js';

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** What all charts share. Tooltips are drawn, not written as HTML: names and texts of a run are never markup. */
export function base(palette: Palette): EChartsCoreOption {
  return {
    animation: false,
    color: [...palette.categories],
    textStyle: { fontFamily: FONT, color: palette.muted, fontSize: 11 },
    tooltip: {
      renderMode: 'richText',
      confine: true,
      backgroundColor: palette.surface,
      borderColor: palette.line,
      textStyle: { color: palette.text, fontFamily: FONT, fontSize: 12 },
    },
  };
}

/** A value axis: thin lines, no box. */
export function valueAxis(palette: Palette, name: string) {
  return {
    type: 'value',
    name,
    nameLocation: 'middle',
    nameTextStyle: { color: palette.muted },
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { color: palette.muted, hideOverlap: true },
    splitLine: { lineStyle: { color: palette.line } },
  };
}

/** The axis that all curves of a run share. */
export function stepAxis(palette: Palette, name: string) {
  return {
    ...valueAxis(palette, name),
    nameGap: 24,
    minInterval: 1,
    axisPointer: { label: { precision: 0 } }, // steps and turn indexes are whole
    min: 'dataMin',
    max: 'dataMax',
    splitLine: { show: false },
    axisLine: { show: true, onZero: false, lineStyle: { color: palette.line } },
  };
}

export const LINE = { type: 'line', showSymbol: false, lineStyle: { width: 2 }, emphasis: { disabled: true } };
