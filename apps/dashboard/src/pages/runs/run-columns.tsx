import { Link } from '@tanstack/react-router';
import { curveOf } from '../../charts/metric-curve.js';
import { graphql, type ResultOf } from '../../graphql.js';
import { ago, count, percent } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';
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
    metric(name: "successRate", points: 48) {
      points {
        trainingStep
        value
      }
    }
  }
`);

export type RunRow = ResultOf<typeof RunRowFields>;

export const RUN_COLUMNS: readonly Column<RunRow>[] = [
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

/** Training steps count from 0. */
function stepsOf({ progress }: RunRow): number {
  return progress.lastTrainingStep === null ? 0 : progress.lastTrainingStep + 1;
}
