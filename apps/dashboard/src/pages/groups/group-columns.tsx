import { Link } from '@tanstack/react-router';
import { graphql, type ResultOf } from '../../graphql.js';
import { count, decimal } from '../../text/numbers.js';
import type { Column } from '../../ui/DataTable.js';
import { Text } from '../../ui/Text.js';
import { without } from '../../without.js';
import { Dots } from './Dots.js';

export const GroupRowFields = graphql(`
  fragment GroupRow on Group @_unmask {
    name
    trajectoryCount
    finishedCount
    turnCount
    outcomeMin
    outcomeMax
    meanOutcomeReward
    trajectories(first: 16) {
      edges {
        node {
          id
          success
          outcomeReward
        }
      }
    }
  }
`);

export type GroupRow = ResultOf<typeof GroupRowFields>;

export function groupColumns(run: string, step: string): readonly Column<GroupRow>[] {
  return [
    {
      id: 'name',
      title: 'Group',
      sortBy: ({ name }) => name,
      cell: ({ name }) => (
        <Link
          to="/runs/$run/steps/$step"
          params={{ run, step }}
          search={(old) => ({ ...without(old, 'state'), group: name })}
          resetScroll={false}
        >
          <Text>{name}</Text>
        </Link>
      ),
    },
    {
      id: 'outcomes',
      title: 'Outcomes',
      hint: 'One dot per rollout, full where it succeeded; the first 16',
      width: 136,
      cell: ({ trajectories }) => <Dots outcomes={trajectories.edges.map(({ node }) => node)} />,
    },
    {
      id: 'rollouts',
      title: 'Rollouts',
      width: 84,
      align: 'end',
      sortBy: ({ trajectoryCount }) => trajectoryCount,
      cell: ({ trajectoryCount }) => count(trajectoryCount),
    },
    {
      id: 'mean',
      title: 'Mean',
      width: 76,
      align: 'end',
      sortBy: ({ meanOutcomeReward }) => meanOutcomeReward,
      cell: ({ meanOutcomeReward }) => decimal(meanOutcomeReward),
    },
    {
      id: 'spread',
      title: 'Spread',
      width: 80,
      hint: 'Largest outcome less the smallest: 0 gives a group-relative estimator nothing to say',
      align: 'end',
      sortBy: spreadOf,
      cell: (group) => decimal(spreadOf(group), 2),
    },
    {
      id: 'turns',
      title: 'Turns',
      width: 80,
      align: 'end',
      sortBy: ({ turnCount }) => turnCount,
      cell: ({ turnCount }) => count(turnCount),
    },
  ];
}

function spreadOf({ outcomeMin, outcomeMax }: GroupRow): number | null {
  return outcomeMin === null || outcomeMax === null ? null : outcomeMax - outcomeMin;
}
