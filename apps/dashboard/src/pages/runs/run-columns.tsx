import { Link } from '@tanstack/react-router';
import { curveOf } from '../../charts/metric-curves.js';
import { ago, count, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import type { Column } from '../../ui/DataTable.js';
import { AlertBadge } from '../../ui/AlertBadge.js';
import { Sparkline } from '../../ui/Sparkline.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';
import type { RunRow } from './queries.js';

interface Picking {
  /** ids of the runs that are to be compared, two at most */
  readonly picked: readonly string[];
  readonly onPick: (id: string) => void;
}

export const runColumns = ({ picked, onPick }: Picking): readonly Column<RunRow>[] => [
  {
    id: 'pick',
    title: 'Pick',
    width: 56,
    hint: 'Two runs can be compared',
    cell: ({ id, name }) => (
      <input
        type="checkbox"
        className="pick"
        aria-label={`Compare ${visibleText(name)}`}
        checked={picked.includes(id)}
        disabled={picked.length >= 2 && !picked.includes(id)}
        onChange={() => onPick(id)}
      />
    ),
  },
  {
    id: 'name',
    title: 'Name',
    sortBy: 'asked',
    cell: ({ id, name }) => (
      <Link to="/runs/$run" params={{ run: id }}>
        <Text>{name}</Text>
      </Link>
    ),
  },
  { id: 'project', title: 'Project', width: 128, sortBy: 'asked', cell: ({ project }) => <Text>{project}</Text> },
  { id: 'state', title: 'State', width: 112, sortBy: 'asked', cell: ({ state }) => <State state={state} /> },
  {
    id: 'alerts',
    title: 'Alerts',
    hint: 'Open ones, and the worst level among them',
    width: 112,
    sortBy: 'asked',
    largestFirst: true,
    cell: (run) => <Alerts run={run} />,
  },
  {
    id: 'steps',
    title: 'Training steps',
    align: 'end',
    width: 112,
    sortBy: 'asked',
    largestFirst: true,
    cell: (run) => count(stepsOf(run)),
  },
  {
    id: 'trajectories',
    title: 'Trajectories',
    align: 'end',
    width: 104,
    sortBy: 'asked',
    largestFirst: true,
    cell: ({ progress }) => count(progress.trajectoryCount),
  },
  {
    id: 'turns',
    title: 'Turns',
    align: 'end',
    width: 96,
    sortBy: 'asked',
    largestFirst: true,
    cell: ({ progress }) => count(progress.turnCount),
  },
  {
    id: 'success',
    title: 'Success rate',
    hint: 'Of all finished trajectories; the line is by training step',
    align: 'end',
    width: 200,
    sortBy: 'asked',
    largestFirst: true,
    cell: ({ progress, metric }) => (
      <span className="spark">
        {metric && metric.points.length > 1 && <Sparkline values={curveOf('', metric.points).value} />}
        <span className="spark-value">{percent(progress.successRate)}</span>
      </span>
    ),
  },
  {
    id: 'last',
    title: 'Last event',
    align: 'end',
    width: 128,
    sortBy: 'asked',
    largestFirst: true,
    cell: ({ progress }) => ago(progress.lastEventAt, Date.now()),
  },
];

const LEVELS = ['CRITICAL', 'WARN', 'INFO'] as const;

function Alerts({ run }: { readonly run: RunRow }) {
  if (!run.alerts) return null;
  const levels = run.alerts.edges.map(({ node }) => node.level);
  const worst = LEVELS.find((level) => levels.includes(level));
  if (!worst) return <span className="hint">none</span>;
  return <AlertBadge level={worst} count={levels.length} />;
}

/** Training steps count from 0. */
function stepsOf({ progress }: RunRow): number {
  return progress.lastTrainingStep === null ? 0 : progress.lastTrainingStep + 1;
}
