import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { counted, credit } from '../../text/numbers.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Text } from '../../ui/Text.js';
import type { Sample } from './credit-sample.js';

const keyOf = ({ point }: PlanePoint) => String(point);

interface PlaneTurnsProps {
  readonly analysis: string;
  readonly sample: Sample;
  readonly points: readonly number[];
  readonly names: readonly [string, string];
}

interface PlanePoint {
  readonly point: number;
}

/** The turns behind a part of the plane, those first on which the two differ most. */
export function PlaneTurns({ analysis, sample, points, names }: PlaneTurnsProps) {
  const rows = useMemo(() => points.map((point) => ({ point })), [points]);
  const [xName, yName] = names;
  const columns = useMemo(() => columnsOf(analysis, sample, [xName, yName]), [analysis, sample, xName, yName]);
  return (
    <>
      <p className="hint">
        {counted(points.length, 'turn')} there
        {points.length > 1 && '; those first on which they differ most, in spreads of each'}
      </p>
      <DataTable<PlanePoint> label="Turns of that part" rows={rows} columns={columns} keyOf={keyOf} isBoxed />
    </>
  );
}

function columnsOf(analysis: string, sample: Sample, names: PlaneTurnsProps['names']): readonly Column<PlanePoint>[] {
  return [
    {
      id: 'turn',
      title: 'Turn',
      width: 240,
      cell: ({ point }) => (
        <Link
          className="turn-name"
          to="/runs/$run/trajectories/$trajectory"
          params={{ run: sample.run[point], trajectory: sample.trajectory[point] }}
          search={{ analysis, turn: sample.turn[point] }}
        >
          <span>
            <Text>{sample.trajectory[point]}</Text>
          </span>
          <span>, turn {sample.turn[point]}</span>
        </Link>
      ),
    },
    { id: 'x', title: names[0], width: 128, align: 'end', cell: ({ point }) => credit(sample.x[point]) },
    { id: 'y', title: names[1], width: 128, align: 'end', cell: ({ point }) => credit(sample.y[point]) },
  ];
}
