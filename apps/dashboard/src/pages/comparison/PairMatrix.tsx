import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { heatMap } from '../../charts/heat-map.js';
import { useIsNarrow, usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { Panel } from '../../ui/Panel.js';
import { matrixCells } from './matrix-cells.js';
import type { Comparison } from './queries.js';

const ROW_HEIGHT = 28;
const AXIS_HEIGHT = 112;

/** How each two estimators agree in rank. */
export function PairMatrix({ comparison }: { readonly comparison: Comparison }) {
  const palette = usePalette();
  const isNarrow = useIsNarrow();
  const { estimators, pairs } = comparison;
  const option = useMemo(() => {
    const ids = estimators.map(({ id }) => id);
    const names = ids.map(visibleText);
    return heatMap(
      {
        rows: names,
        columns: names,
        cells: matrixCells(ids, pairs),
        numbers: isNarrow ? 9 : 11,
        nameWidth: isNarrow ? 110 : 124,
        caption: ({ row, column }) => `${names[row]} and ${names[column]}`,
      },
      palette,
    );
  }, [estimators, pairs, palette, isNarrow]);
  return (
    <Panel title="Agreement" hint="Spearman rank correlation of each two">
      <Chart
        option={option}
        height={estimators.length * ROW_HEIGHT + AXIS_HEIGHT}
        label="Matrix of rank correlations between estimators"
      />
    </Panel>
  );
}
