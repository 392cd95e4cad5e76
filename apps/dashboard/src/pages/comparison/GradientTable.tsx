import { count, credit, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import { Interval } from './Interval.js';
import type { Profile } from './queries.js';

/** Which way an update by each estimator goes; nothing where no log-probability of a token was logged. */
export function GradientTable({ estimators }: { readonly estimators: readonly Profile[] }) {
  const isLogged = ({ gradient }: Profile) => gradient !== null && gradient.from !== null;
  if (!estimators.some(isLogged)) return null;
  return (
    <Panel title="Which way the update goes" hint="by the lengths of the gradients of turns">
      <DataTable<Profile>
        label="Which way the update goes"
        rows={estimators}
        columns={COLUMNS}
        keyOf={({ id }) => id}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Profile>[] = [
  { id: 'id', title: 'Estimator', cell: ({ id }) => <strong>{visibleText(id)}</strong> },
  {
    id: 'push',
    title: 'Push',
    hint: '+1: all that was done becomes more likely; −1: less likely; 0: in balance',
    cell: ({ gradient }) => (
      <Interval
        estimate={{ value: gradient?.push ?? null, low: null, high: null }}
        from={-1}
        write={(push) => credit(push, 2)}
        isDrawn
      />
    ),
  },
  {
    id: 'length',
    title: 'Length',
    hint: 'As long as the gradient by the logits',
    align: 'end',
    cell: ({ gradient }) => decimal(gradient?.length, 2),
  },
  {
    id: 'from',
    title: 'Rests on',
    hint: 'From sumProbSquared it is exact, from logprob between half of it and all of it',
    cell: ({ gradient }) => gradient?.from ?? '–',
  },
  { id: 'turns', title: 'Turns', align: 'end', cell: ({ gradient }) => count(gradient?.turns) },
];
