import { Link } from '@tanstack/react-router';
import { curveOf } from '../../charts/metric-curves.js';
import { graphql, type ResultOf } from '../../graphql.js';
import { ago, count, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import type { Column } from '../../ui/DataTable.js';
import { AlertBadge } from '../../ui/AlertBadge.js';
import { Sparkline } from '../../ui/Sparkline.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';

export const RunRowFields = graphql(`
  fragment RunRow on Run @_unmask {
    id
    name
    project
    state
    createdAt
    progress {
      lastTrainingStep
      trajectoryCount
      turnCount
      successRate
      lastEventAt
    }
    alerts(isOpen: true, first: 20) {
      edges {
        node {
          id
          level
        }
      }
    }
    metric(name: "successRate", points: 48) {
      points {
        trainingStep
        value
      }
    }
  }
`);

export type RunRow = ResultOf<typeof RunRowFields>;

interface Picking {
  /** ids of the runs that are to be compared, two at most */
  readonly picked: readonly string[];
  readonly onPick: (id: string) => void;
}

export const runColumns = ({ picked, onPick }: Picking): readonly Column<RunRow>[] => [
  {
    id: 'pick',
    title: 'Pick',
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
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/runs/$run" params={{ run: id }}>
        <Text>{name}</Text>
      </Link>
    ),
  },
  { id: 'project', title: 'Project', sortBy: ({ project }) => project, cell: ({ project }) => <Text>{project}</Text> },
  { id: 'state', title: 'State', sortBy: ({ state }) => state, cell: ({ state }) => <State state={state} /> },
  {
    id: 'alerts',
    title: 'Alerts',
    hint: 'Open ones, and the worst level among them',
    sortBy: (run) => alertRank(run),
    cell: (run) => <Alerts run={run} />,
  },
  {
    id: 'steps',
    title: 'Training steps',
    align: 'end',
    sortBy: (run) => stepsOf(run),
    cell: (run) => count(stepsOf(run)),
  },
  {
    id: 'trajectories',
    title: 'Trajectories',
    align: 'end',
    sortBy: ({ progress }) => progress.trajectoryCount,
    cell: ({ progress }) => count(progress.trajectoryCount),
  },
  {
    id: 'turns',
    title: 'Turns',
    align: 'end',
    sortBy: ({ progress }) => progress.turnCount,
    cell: ({ progress }) => count(progress.turnCount),
  },
  {
    id: 'success',
    title: 'Success rate',
    hint: 'Of all finished trajectories; the line is by training step',
    align: 'end',
    sortBy: ({ progress }) => progress.successRate,
    cell: ({ progress, metric }) => (
      <span className="spark">
        {metric.points.length > 1 && <Sparkline values={curveOf('', metric.points).value} />}
        {percent(progress.successRate)}
      </span>
    ),
  },
  {
    id: 'last',
    title: 'Last event',
    align: 'end',
    sortBy: ({ progress }) => (progress.lastEventAt ? Date.parse(progress.lastEventAt) : null),
    cell: ({ progress }) => ago(progress.lastEventAt, Date.now()),
  },
];

const LEVELS = ['CRITICAL', 'WARN', 'INFO'] as const;

function Alerts({ run }: { readonly run: RunRow }) {
  const levels = run.alerts.edges.map(({ node }) => node.level);
  const worst = LEVELS.find((level) => levels.includes(level));
  if (!worst) return <span className="hint">none</span>;
  return <AlertBadge level={worst} count={levels.length} />;
}

/** The worst level first, then how many. */
function alertRank({ alerts: { edges } }: RunRow): number {
  const rank = Math.max(0, ...edges.map(({ node }) => LEVELS.length - LEVELS.indexOf(node.level)));
  return 100 * rank + edges.length;
}

/** Training steps count from 0. */
function stepsOf({ progress }: RunRow): number {
  return progress.lastTrainingStep === null ? 0 : progress.lastTrainingStep + 1;
}
