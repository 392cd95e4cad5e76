import { count, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import type { Column } from '../../ui/DataTable.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { TurnLink } from '../links.js';
import type { Plan } from './queries.js';
import { Shortened } from './Shortened.js';

type Alike = Plan['failures'][number];

interface FailuresProps {
  readonly run: string;
  readonly failures: readonly Alike[];
}

/** Failures that do the same, each by one trajectory that shows it. */
export function Failures({ run, failures }: FailuresProps) {
  const several = failures.filter(({ size }) => size > 1);
  return (
    <Panel title="Failures alike" hint="of the last training steps, the commonest first">
      <Shortened<Alike>
        id="failures"
        label="Failures alike"
        rows={several}
        columns={columnsOf(run)}
        keyOf={({ representative }) => representative}
        empty={<Empty title="No two failures do the same" />}
      />
    </Panel>
  );
}

const FEW = 2;

const columnsOf = (run: string): readonly Column<Alike>[] => [
  {
    id: 'such',
    title: 'Such as',
    cell: ({ representative }) => <TurnLink run={run} trajectory={representative} />,
  },
  { id: 'size', title: 'Failures', align: 'end', cell: ({ size }) => count(size) },
  { id: 'share', title: 'Of all', align: 'end', cell: ({ share }) => percent(share) },
  { id: 'tasks', title: 'Tasks', cell: ({ tasks }) => tasksText(tasks) },
  {
    id: 'fault',
    title: 'Whose',
    hint: 'Whether the agent fails, or the task cannot be solved',
    cell: ({ fault }) => fault?.toLowerCase() ?? '–',
  },
];

function tasksText(tasks: readonly string[]): string {
  const named = tasks.slice(0, FEW).map(visibleText).join(', ');
  return tasks.length > FEW ? `${named} and ${tasks.length - FEW} more` : named;
}
