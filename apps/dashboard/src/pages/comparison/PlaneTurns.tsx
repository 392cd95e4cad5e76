import { Link } from '@tanstack/react-router';
import { counted, credit } from '../../text/numbers.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Text } from '../../ui/Text.js';
import type { Sample } from './credit-sample.js';

const SHOWN = 10;

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
  const columns: readonly Column<PlanePoint>[] = [
    {
      id: 'turn',
      title: 'Turn',
      cell: ({ point }) => (
        <Link
          to="/runs/$run/trajectories/$trajectory"
          params={{ run: sample.run[point], trajectory: sample.trajectory[point] }}
          search={{ analysis, turn: sample.turn[point] }}
        >
          <Text>{sample.trajectory[point]}</Text>, turn {sample.turn[point]}
        </Link>
      ),
    },
    { id: 'x', title: names[0], align: 'end', cell: ({ point }) => credit(sample.x[point], 2) },
    { id: 'y', title: names[1], align: 'end', cell: ({ point }) => credit(sample.y[point], 2) },
  ];
  return (
    <>
      <p className="hint">
        {counted(points.length, 'turn')} there
        {points.length > SHOWN && `; the ${SHOWN} on which they differ most, in spreads of each`}
      </p>
      <DataTable<PlanePoint>
        label="Turns of that part"
        rows={points.slice(0, SHOWN).map((point) => ({ point }))}
        columns={columns}
        keyOf={({ point }) => String(point)}
      />
    </>
  );
}
