import { count, decimal, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import type { Profile } from './queries.js';

/** How far credit moves when somebody is left out; nothing in comparisons older than these numbers. */
export function Stability({ estimators }: { readonly estimators: readonly Profile[] }) {
  if (estimators.every(({ stability }) => stability === null)) return null;
  return (
    <Panel title="Stability" hint="how far a turn’s credit moves when others are left out">
      <DataTable<Profile> label="Stability" rows={estimators} columns={COLUMNS} keyOf={({ id }) => id} />
    </Panel>
  );
}

/** Above it no single turn should be acted on: docs/comparison.md. */
const UNSTABLE = 0.2;

const LEFT_OUT: Readonly<Record<string, string>> = { trajectory: 'rollout', groups: 'groups' };

const COLUMNS: readonly Column<Profile>[] = [
  { id: 'id', title: 'Estimator', cell: ({ id }) => <strong>{visibleText(id)}</strong> },
  {
    id: 'signs',
    title: 'Signs turn',
    hint: 'Share of the turns whose sign turns when somebody is left out; above 20 % act on no single turn of it',
    align: 'end',
    cell: ({ stability }) => {
      const share = stability?.signUnstableShare ?? null;
      return <span className={share !== null && share > UNSTABLE ? 'below' : undefined}>{percent(share)}</span>;
    },
  },
  {
    id: 'instability',
    title: 'Instability',
    hint: 'Standard error to credit, both in the mean; 0: nobody else counts',
    align: 'end',
    cell: ({ stability }) => decimal(stability?.relativeInstability, 2),
  },
  {
    id: 'move',
    title: 'Move',
    hint: 'The greatest of a turn, in the mean, in spreads of the estimator',
    align: 'end',
    cell: ({ stability, std }) =>
      decimal(stability?.meanMaxMove != null && std ? stability.meanMaxMove / std : null, 2),
  },
  {
    id: 'left',
    title: 'Left out',
    hint: 'At a time: a rollout of each group, or a tenth of the groups where the estimator looks across them',
    cell: ({ stability }) => (stability ? (LEFT_OUT[stability.leftOut] ?? stability.leftOut) : 'not measured'),
  },
  { id: 'turns', title: 'Turns', align: 'end', cell: ({ stability }) => count(stability?.turns) },
];
