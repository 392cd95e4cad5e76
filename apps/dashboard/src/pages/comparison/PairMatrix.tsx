import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { heatMap } from '../../charts/heat-map.js';
import { useIsNarrow, usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { Panel } from '../../ui/Panel.js';
import { matrixCells, type RankedPair } from './matrix-cells.js';
import type { Comparison } from './queries.js';

const ROW_HEIGHT = 28;
const AXIS_HEIGHT = 112;

/** How each two estimators agree in rank. */
export function PairMatrix({ comparison: { estimators, pairs } }: { readonly comparison: Comparison }) {
  const ids = useMemo(() => estimators.map(({ id }) => id), [estimators]);
  return (
    <Panel title="Agreement" hint="Spearman rank correlation of each two">
      <PairHeatMap ids={ids} pairs={pairs} label="Matrix of rank correlations between estimators" />
    </Panel>
  );
}

interface PairHeatMapProps {
  readonly ids: readonly string[];
  readonly pairs: readonly RankedPair[];
  readonly label: string;
}

export function PairHeatMap({ ids, pairs, label }: PairHeatMapProps) {
  const palette = usePalette();
  const isNarrow = useIsNarrow();
  const option = useMemo(() => {
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
  }, [ids, pairs, palette, isNarrow]);
  return <Chart option={option} height={ids.length * ROW_HEIGHT + AXIS_HEIGHT} label={label} />;
}
