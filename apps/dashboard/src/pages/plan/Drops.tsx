import { counted } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import type { Plan } from './queries.js';
import { Shortened } from './Shortened.js';

type Drop = Plan['drop'][number];

/** Tasks whose groups carry no signal. */
export function Drops({ drops }: { readonly drops: readonly Drop[] }) {
  return (
    <Panel title="Groups to drop" hint="all of their rollouts solve the task, or none: they teach nothing">
      <Shortened<Drop>
        id="drop"
        label="Groups to drop"
        rows={drops}
        columns={COLUMNS}
        keyOf={({ task }) => task}
        empty={<Empty title="Every task still teaches something" />}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Drop>[] = [
  { id: 'task', title: 'Task', cell: ({ task }) => <Text>{task}</Text> },
  {
    id: 'why',
    title: 'Why',
    cell: ({ why, attempts }) => `${why.toLowerCase()} in ${counted(attempts, 'try', 'tries')}`,
  },
  { id: 'advice', title: 'Instead', cell: ({ advice }) => advice },
];
