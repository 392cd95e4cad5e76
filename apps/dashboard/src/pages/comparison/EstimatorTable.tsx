import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { credit, decimal, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import { Interval } from './Interval.js';
import type { Comparison, Profile, Truth } from './queries.js';
import { without } from '../../without.js';

/** One row per estimator: how much it says, and how well that agrees with each truth. */
export function EstimatorTable({ comparison }: { readonly comparison: Comparison }) {
  const { sort } = useSearch({ from: '/analyses/$analysis' });
  const navigate = useNavigate({ from: '/analyses/$analysis' });
  const { estimators, truths } = comparison;
  const columns = useMemo(() => {
    const signals = [...new Set(truths.map(({ signal }) => signal))];
    return [...PROFILE_COLUMNS, ...signals.flatMap((signal) => truthColumns(signal, truths))];
  }, [truths]);
  return (
    <Panel title="Estimators" hint="intervals are 90 %; hover over a title for what the number means">
      <DataTable<Profile>
        label="Estimators"
        rows={estimators}
        columns={columns}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(next) =>
          void navigate({
            search: (old) => (next ? { ...old, sort: next } : without(old, 'sort')),
            replace: true,
            resetScroll: false,
          })
        }
      />
    </Panel>
  );
}

const PROFILE_COLUMNS: readonly Column<Profile>[] = [
  { id: 'id', title: 'Estimator', sortBy: ({ id }) => id, cell: ({ id }) => <strong>{visibleText(id)}</strong> },
  {
    id: 'density',
    title: 'Turns with credit',
    hint: 'Share of turns with credit other than 0',
    align: 'end',
    sortBy: ({ signalDensity }) => signalDensity,
    cell: ({ signalDensity }) => percent(signalDensity),
  },
  {
    id: 'mean',
    title: 'Mean',
    hint: 'Far from 0, it pushes all actions one way',
    align: 'end',
    sortBy: ({ mean }) => mean,
    cell: ({ mean }) => credit(mean),
  },
  { id: 'std', title: 'Spread', align: 'end', sortBy: ({ std }) => std, cell: ({ std }) => decimal(std) },
  {
    id: 'within',
    title: 'Within trajectories',
    hint: 'Share of the variance that tells turns of one trajectory apart; 0: outcome credit only',
    align: 'end',
    sortBy: ({ withinTrajectoryShare }) => withinTrajectoryShare,
    cell: ({ withinTrajectoryShare }) => percent(withinTrajectoryShare),
  },
  {
    id: 'effective',
    title: 'Effective turns',
    hint: 'As many turns as would carry a trajectory’s credit evenly',
    align: 'end',
    sortBy: ({ effectiveTurns }) => effectiveTurns,
    cell: ({ effectiveTurns }) => decimal(effectiveTurns, 1),
  },
];

function truthColumns(signal: string, truths: readonly Truth[]): Column<Profile>[] {
  const of = new Map(truths.filter((truth) => truth.signal === signal).map((truth) => [truth.estimator, truth]));
  const name = visibleText(signal);
  return [
    {
      id: `spearman-${signal}`,
      title: `Rank agreement with ${name}`,
      hint: `Spearman correlation of its credit with ${name}, from −1 to 1`,
      sortBy: ({ id }) => of.get(id)?.spearman ?? null,
      cell: ({ id }) => <Interval truth={of.get(id)} />,
    },
    {
      id: `pairs-${signal}`,
      title: 'Pairs in order',
      hint: `Of two turns of one trajectory, how often it ranks them as ${name} does; chance is 50 %`,
      align: 'end',
      sortBy: ({ id }) => of.get(id)?.withinTrajectoryPairAccuracy ?? null,
      cell: ({ id }) => percent(of.get(id)?.withinTrajectoryPairAccuracy),
    },
    {
      id: `auc-${signal}`,
      title: 'AUC',
      hint: `How likely a turn that ${name} puts above 0 has more credit than one below; chance is 0.5`,
      align: 'end',
      sortBy: ({ id }) => of.get(id)?.auc ?? null,
      cell: ({ id }) => decimal(of.get(id)?.auc),
    },
  ];
}
