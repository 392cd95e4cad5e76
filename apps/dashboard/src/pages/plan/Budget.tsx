import { count, counted } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';
import { Empty } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { MIXED, PREDICTED } from './columns.js';
import type { Plan } from './queries.js';
import { movesOf, type Share } from './rows.js';
import { Shortened } from './Shortened.js';

/** How the rollouts of a training step should be spread over the tasks, where that differs from how they were. */
export function Budget({ plan }: { readonly plan: Pick<Plan, 'budget'> }) {
  if (!plan.budget) return null;
  const { rollouts } = plan.budget;
  const moves = movesOf(plan);
  return (
    <Panel title="Budget" hint={`${counted(rollouts, 'rollout')}, spent where they bring successes and failures`}>
      <Shortened<Share>
        id="budget"
        label="Budget"
        rows={moves}
        columns={columnsOf(moves)}
        keyOf={({ task }) => task}
        empty={<Empty title="The rollouts are spent as they should be" />}
      />
    </Panel>
  );
}

function columnsOf(moves: readonly Share[]): readonly Column<Share>[] {
  const most = moves.reduce((most, { rollouts, lastRollouts }) => Math.max(most, rollouts, lastRollouts), 1);
  return [
    { id: 'task', title: 'Task', cell: ({ task }) => <Text>{task}</Text> },
    {
      id: 'solved',
      title: 'Solved',
      align: 'end',
      cell: ({ successes, attempts }) => `${count(successes)} of ${count(attempts)}`,
    },
    PREDICTED,
    {
      id: 'last',
      title: 'Last step',
      hint: 'Rollouts that the last training step spent on it',
      align: 'end',
      cell: ({ lastRollouts }) => count(lastRollouts),
    },
    { id: 'next', title: 'Next', align: 'end', cell: ({ rollouts }) => <strong>{count(rollouts)}</strong> },
    { id: 'move', title: 'From last to next', cell: (share) => <Move share={share} most={most} /> },
    MIXED,
  ];
}

const WIDTH = 140;
const HEIGHT = 14;
const MARGIN = 5;

/** A ring where it was, a dot where it should be; the numbers stand beside it. */
function Move({ share: { lastRollouts, rollouts }, most }: { readonly share: Share; readonly most: number }) {
  const across = (value: number) => MARGIN + (value / most) * (WIDTH - 2 * MARGIN);
  const tone = rollouts > lastRollouts ? 'above' : 'below';
  return (
    <svg className="lane" style={{ width: WIDTH }} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <rect className="ground" width={WIDTH} height={HEIGHT} rx="2" />
      <rect
        className={tone}
        opacity="0.45"
        x={across(Math.min(rollouts, lastRollouts))}
        y="6"
        width={Math.abs(across(rollouts) - across(lastRollouts))}
        height="2"
      />
      <circle className="was" cx={across(lastRollouts)} cy="7" r="3.5" />
      <circle className={tone} cx={across(rollouts)} cy="7" r="4" />
    </svg>
  );
}
