import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { heatMap } from '../../charts/heat-map.js';
import { useIsNarrow, usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { Choice } from '../../ui/Choice.js';
import { Panel } from '../../ui/Panel.js';
import { matrixCells, type Agreement } from './matrix-cells.js';
import { knownMeasures, PAIR_MEASURES } from './pair-measures.js';
import type { Comparison } from './queries.js';

const ROW_HEIGHT = 28;
const AXIS_HEIGHT = 112;

const FROM = '/analyses/$analysis';

/** How each two estimators agree. */
export function PairMatrix({ comparison: { estimators, pairs } }: { readonly comparison: Comparison }) {
  const { pairs: asked } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const ids = useMemo(() => estimators.map(({ id }) => id), [estimators]);
  const measures = knownMeasures(pairs);
  const measure = measures.find((one) => one === asked) ?? 'spearman';
  const { title, hint, agreement } = PAIR_MEASURES[measure];
  return (
    <Panel
      title="Agreement"
      hint={hint}
      actions={
        <Choice
          label="By"
          value={measure}
          options={measures.map((value) => ({ value, title: PAIR_MEASURES[value].title }))}
          onChoose={(next) =>
            void navigate({ search: (old) => ({ ...old, pairs: next }), replace: true, resetScroll: false })
          }
        />
      }
    >
      <PairHeatMap {...{ ids, pairs, agreement }} label={`Matrix of the agreement of estimators: ${title}`} />
    </Panel>
  );
}

interface PairHeatMapProps<P> {
  readonly ids: readonly string[];
  readonly pairs: readonly P[];
  readonly agreement: (pair: P) => Agreement | null;
  readonly label: string;
}

export function PairHeatMap<P extends { readonly a: string; readonly b: string }>({
  ids,
  pairs,
  agreement,
  label,
}: PairHeatMapProps<P>) {
  const palette = usePalette();
  const isNarrow = useIsNarrow();
  const option = useMemo(() => {
    const names = ids.map(visibleText);
    return heatMap(
      {
        rows: names,
        columns: names,
        cells: matrixCells(ids, pairs, agreement),
        numbers: isNarrow ? 9 : 11,
        nameWidth: isNarrow ? 110 : 124,
        caption: ({ row, column }) => `${names[row]} and ${names[column]}`,
      },
      palette,
    );
  }, [ids, pairs, agreement, palette, isNarrow]);
  return <Chart option={option} height={ids.length * ROW_HEIGHT + AXIS_HEIGHT} label={label} />;
}
