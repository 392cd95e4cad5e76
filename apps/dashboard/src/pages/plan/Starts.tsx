import { count, counted } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { TurnLink } from '../links.js';
import { MIXED, PREDICTED } from './columns.js';
import type { Plan } from './queries.js';
import { Shortened } from './Shortened.js';

type Start = NonNullable<Plan['budget']>['starts'][number];

interface StartsProps {
  readonly run: string;
  readonly budget: Plan['budget'];
}

/** The same rollouts spread over prompts and states inside of tasks; nothing where prompts alone get any. */
export function Starts({ run, budget }: StartsProps) {
  if (!budget?.starts.some(({ prefixTurns }) => prefixTurns > 0)) return null;
  return (
    <Panel title="Where to start from" hint="the same rollouts, if they may start inside a task too">
      <Shortened<Start>
        id="starts"
        label="Where to start from"
        rows={budget.starts}
        columns={columnsOf(run)}
        keyOf={({ task, trajectory, prefixTurns }) => `${task} ${trajectory} ${prefixTurns}`}
      />
    </Panel>
  );
}

const columnsOf = (run: string): readonly Column<Start>[] => [
  { id: 'task', title: 'Task', cell: ({ task }) => <Text>{task}</Text> },
  {
    id: 'from',
    title: 'Start from',
    cell: ({ trajectory, prefixTurns }) =>
      trajectory === null ? (
        'the prompt'
      ) : (
        <>
          {counted(prefixTurns, 'turn')} of{' '}
          <TurnLink {...{ run, trajectory }} turn={prefixTurns}>
            <Text>{trajectory}</Text>
          </TurnLink>
        </>
      ),
  },
  { id: 'rollouts', title: 'Rollouts', align: 'end', cell: ({ rollouts }) => <strong>{count(rollouts)}</strong> },
  PREDICTED,
  MIXED,
];
