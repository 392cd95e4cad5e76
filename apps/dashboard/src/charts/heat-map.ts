import type { EChartsCoreOption } from 'echarts/core';
import { credit, decimal } from '../text/numbers.js';
import { base } from './kit.js';
import type { Palette } from './palette.js';

export interface HeatCell {
  readonly row: number;
  readonly column: number;
  /** share of the full scale, -1 … 1 */
  readonly share: number;
  readonly value: number;
}

export interface HeatMap {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: readonly HeatCell[];
  /** size of the number that each cell says; null: none */
  readonly numbers: number | null;
  /** room for the names of rows, in pixels */
  readonly nameWidth: number;
  /** written above the number in the tooltip */
  readonly caption: (cell: HeatCell) => string;
}

const CELL_LABEL_DIGITS = 2;
/** of the names of rows, in pixels: about what most have */
const LETTER_WIDTH = 6.6;

/** Estimators of one family begin alike, and end in what they differ in: `reinfor…seline`. */
function bothEnds(name: string, most: number): string {
  const letters = [...name];
  if (letters.length <= most) return name;
  const kept = most - 1;
  return `${letters.slice(0, Math.ceil(kept / 2)).join('')}…${letters.slice(-Math.floor(kept / 2)).join('')}`;
}

/** Cells on the diverging scale; a cell that nothing is said of stays empty. */
export function heatMap(map: HeatMap, palette: Palette): EChartsCoreOption {
  const { rows, columns, cells, numbers, nameWidth, caption } = map;
  const names = { color: palette.muted, fontSize: 11 };
  const quiet = { axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false } };
  return {
    ...base(palette),
    grid: { left: nameWidth, right: 8, top: 8, bottom: numbers === null ? 26 : 104 },
    tooltip: {
      ...(base(palette).tooltip as object),
      formatter: ({ dataIndex }: { dataIndex: number }) =>
        `${caption(cells[dataIndex])}\n${credit(cells[dataIndex].value)}`,
    },
    xAxis: {
      type: 'category',
      data: [...columns],
      ...quiet,
      axisLabel: { ...names, ...(numbers === null ? { hideOverlap: true } : { rotate: 40, interval: 0 }) },
    },
    yAxis: {
      type: 'category',
      data: [...rows],
      inverse: true,
      ...quiet,
      axisLabel: {
        ...names,
        interval: 0,
        width: nameWidth - 12,
        overflow: 'truncate',
        formatter: (name: string) => bothEnds(name, Math.floor((nameWidth - 12) / LETTER_WIDTH)),
      },
    },
    visualMap: {
      type: 'continuous',
      show: false,
      min: -1,
      max: 1,
      dimension: 3,
      inRange: { color: [...palette.diverging] },
    },
    series: [
      {
        type: 'heatmap',
        data: cells.map(({ row, column, share, value }) => ({
          value: [column, row, value, share],
          label: { color: Math.abs(share) > 0.72 ? palette.surface : palette.text },
        })),
        label: {
          show: numbers !== null,
          fontSize: numbers ?? undefined,
          formatter: ({ value }: { value: readonly number[] }) => decimal(value[2], CELL_LABEL_DIGITS),
        },
        itemStyle: { borderColor: palette.surface, borderWidth: 1 },
        emphasis: { itemStyle: { borderColor: palette.text, borderWidth: 1 } },
      },
    ],
  };
}
