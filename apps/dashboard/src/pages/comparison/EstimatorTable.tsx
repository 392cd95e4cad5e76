import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { said } from '../../said.js';
import { count, credit, decimal, percent, seconds } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import { AskedWith } from './AskedWith.js';
import { costsByEstimator, type Cost } from './costs.js';
import type { Analysis, Comparison, Profile } from './queries.js';

interface EstimatorTableProps {
  readonly comparison: Comparison;
  readonly analysis: Pick<Analysis, 'costs' | 'estimators'>;
}

/** One row per estimator: how much it says, what kind of credit that is, and what it took. */
export function EstimatorTable({ comparison: { estimators }, analysis }: EstimatorTableProps) {
  const { costs } = analysis;
  const { sort } = useSearch({ from: '/analyses/$analysis' });
  const navigate = useNavigate({ from: '/analyses/$analysis' });
  const columns = useMemo(() => [...PROFILE_COLUMNS, ...costColumns(costsByEstimator(costs))], [costs]);
  return (
    <Panel title="Estimators" hint="hover over a title for what the number means">
      <DataTable<Profile>
        label="Estimators"
        rows={estimators}
        columns={columns}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(next) =>
          void navigate({ search: (old) => said({ ...old, sort: next }), replace: true, resetScroll: false })
        }
      />
      <AskedWith estimators={analysis.estimators} />
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

function costColumns(costs: ReadonlyMap<string, Cost>): readonly Column<Profile>[] {
  const rateOf = ({ id, turns }: Profile) => {
    const cost = costs.get(id);
    return cost && cost.seconds > 0 ? turns / cost.seconds : null;
  };
  return [
    {
      id: 'seconds',
      title: 'Computed in',
      hint: 'Time of the worker for all training steps, whichever analysis asked first',
      align: 'end',
      sortBy: ({ id }) => costs.get(id)?.seconds ?? null,
      cell: ({ id }) => seconds(costs.get(id)?.seconds),
    },
    {
      id: 'rate',
      title: 'Turns per second',
      align: 'end',
      sortBy: rateOf,
      cell: (profile) => count(rateOf(profile)),
    },
    { id: 'device', title: 'Device', cell: ({ id }) => costs.get(id)?.devices.join(', ') ?? '–' },
  ];
}
