import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { credit } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import type { Comparison } from './queries.js';

type DisputedTurn = Comparison['disputed'][number];

const SHOWN = 12;

interface DisputedProps {
  readonly analysis: string;
  readonly comparison: Comparison;
}

/** Turns that two estimators judge with opposite signs, both of them sure. */
export function Disputed({ analysis, comparison: { disputed, estimators } }: DisputedProps) {
  const { disputed: shown } = useSearch({ from: '/analyses/$analysis' });
  const columns = useMemo(() => columnsOf(analysis, estimators), [analysis, estimators]);
  return (
    <Panel title="Most disputed turns" hint="opposite signs, both far from zero">
      {disputed.length === 0 ? (
        <Empty title="No turn is disputed: wherever two speak, they agree on the sign" />
      ) : (
        <DataTable<DisputedTurn>
          label="Most disputed turns"
          rows={shown === 'all' ? disputed : disputed.slice(0, SHOWN)}
          columns={columns}
          keyOf={({ run, trajectory, turn }) => `${run} ${trajectory} ${turn}`}
        />
      )}
      {disputed.length > SHOWN && shown !== 'all' && (
        <div className="pager">
          <Link
            className="button"
            from="/analyses/$analysis"
            to="."
            search={(old) => ({ ...old, disputed: 'all' as const })}
            replace
            resetScroll={false}
          >
            Show all {disputed.length}
          </Link>
        </div>
      )}
    </Panel>
  );
}

function columnsOf(analysis: string, estimators: Comparison['estimators']): Column<DisputedTurn>[] {
  return [
    {
      id: 'turn',
      title: 'Turn',
      cell: ({ run, trajectory, turn }) => (
        <Link
          to="/runs/$run/trajectories/$trajectory"
          params={{ run, trajectory }}
          search={{ analysis, turn }}
          resetScroll={false}
        >
          <Text>{trajectory}</Text>, turn {turn}
        </Link>
      ),
    },
    ...estimators.map(({ id, std }): Column<DisputedTurn> => {
      const valueOf = ({ values }: DisputedTurn) => (values as Record<string, number | null>)[id] ?? null;
      return {
        id: `value-${id}`,
        title: visibleText(id),
        width: 112,
        align: 'end',
        cell: (row) => <Credit value={valueOf(row)} std={std} />,
      };
    }),
  ];
}

/** Coloured where it is more than half a spread from zero; the sign says the same without colour. */
function Credit({ value, std }: { readonly value: number | null; readonly std: number | null }) {
  const isStrong = value !== null && std !== null && Math.abs(value) > std / 2;
  return <span className={isStrong ? (value > 0 ? 'above' : 'below') : undefined}>{credit(value, 2)}</span>;
}
