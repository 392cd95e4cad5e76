import { useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { heatMap, type HeatCell } from '../../charts/heat-map.js';
import { usePalette } from '../../charts/use-palette.js';
import { visibleText } from '../../text/visible-text.js';
import { shareOf, type Lane } from './lanes.js';
import type { Turn } from './queries.js';

interface CreditMapProps {
  readonly turns: readonly Turn[];
  readonly lanes: readonly Lane[];
  readonly onPick: (turn: number) => void;
}

const ROW_HEIGHT = 20;
const AXIS_HEIGHT = 34;

/** In pixels. */
export function mapHeight(lanes: number): number {
  return lanes * ROW_HEIGHT + AXIS_HEIGHT;
}

/** The whole trajectory at a glance: lanes down, turns across. */
export function CreditMap({ turns, lanes, onPick }: CreditMapProps) {
  const palette = usePalette();
  const option = useMemo(() => {
    const names = lanes.map(({ name }) => visibleText(name));
    const cells = lanes.flatMap((lane, row) =>
      turns.flatMap((turn, column): HeatCell[] => {
        const share = shareOf(lane, turn);
        return share === null ? [] : [{ row, column, share, value: lane.valueOf(turn)! }];
      }),
    );
    return heatMap(
      {
        rows: names,
        columns: turns.map(({ index }) => String(index)),
        cells,
        numbers: null,
        nameWidth: 134,
        caption: ({ row, column }) => `${names[row]}, turn ${turns[column].index}`,
      },
      palette,
    );
  }, [turns, lanes, palette]);
  return (
    <Chart
      option={option}
      height={mapHeight(lanes.length)}
      label="Credit of each turn by each estimator; the same numbers stand beside the turns below"
      onPick={([column]) => onPick(turns[column].index)}
    />
  );
}
