import { Link, useSearch } from '@tanstack/react-router';
import { counted, percent } from '../../text/numbers.js';
import { without } from '../../without.js';
import type { Column } from '../../ui/DataTable.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { TurnLink } from '../links.js';
import { Prefix } from './Prefix.js';
import type { Restart } from './queries.js';
import { Shortened } from './Shortened.js';

interface RestartsProps {
  readonly run: string;
  readonly restarts: readonly Restart[];
}

const keyOf = ({ trajectory, prefixTurns }: Restart) => `${prefixTurns}:${trajectory}`;

/** States worth returning to, and the actions that lead to the chosen one. */
export function Restarts({ run, restarts }: RestartsProps) {
  const { restart } = useSearch({ from: '/runs/$run/plan' });
  const chosen = restarts.find((one) => keyOf(one) === restart);
  return (
    <Panel title="Restart states" hint="visited states that a rollout would best begin from, best first">
      <Shortened<Restart>
        id="restarts"
        label="Restart states"
        rows={restarts}
        columns={columnsOf(run)}
        keyOf={keyOf}
        isMarked={(row) => row === chosen}
        empty={
          <Empty title="No state is worth returning to">
            <p>It takes states that rollouts met again, and left with success as well as without.</p>
          </Empty>
        }
      />
      {chosen && <Prefix key={restart} run={run} restart={chosen} />}
    </Panel>
  );
}

function columnsOf(run: string): readonly Column<Restart>[] {
  return [
    { id: 'task', title: 'Task', cell: ({ task }) => <Text>{task}</Text> },
    {
      id: 'state',
      title: 'State',
      cell: ({ trajectory, prefixTurns }) => <TurnLink {...{ run, trajectory }} turn={prefixTurns} />,
    },
    {
      id: 'prefix',
      title: 'Replay',
      cell: (row) => (
        <Link
          from="/runs/$run/plan"
          to="."
          search={(old) => (old.restart === keyOf(row) ? without(old, 'restart') : { ...old, restart: keyOf(row) })}
          replace
          resetScroll={false}
        >
          {counted(row.prefixTurns, 'action')}
        </Link>
      ),
    },
    {
      id: 'success',
      title: 'Success from there',
      hint: 'Smoothed by a prior',
      align: 'end',
      cell: ({ success }) => percent(success),
    },
    { id: 'reason', title: 'Because', cell: ({ reason }) => reason },
  ];
}
