import { Link, useSearch } from '@tanstack/react-router';
import { graphql, type ResultOf } from '../../graphql.js';
import { count, decimal, percent } from '../../text/numbers.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { useLiveQuery } from './live-query.js';
import { without } from '../../without.js';

const StepFields = graphql(`
  fragment StepRow on TrainingStep @_unmask {
    trainingStep
    trajectoryCount
    groupCount
    turnCount
    successRate
    meanOutcomeReward
  }
`);

const StepsQuery = graphql(
  `
    query TrainingSteps($run: ID!, $after: String) {
      run(id: $run) {
        id
        trainingSteps(first: 25, after: $after) {
          edges {
            node {
              ...StepRow
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [StepFields],
);

type Step = ResultOf<typeof StepFields>;

const columnsOf = (run: string): readonly Column<Step>[] => [
  {
    id: 'step',
    title: 'Step',
    cell: ({ trainingStep }) => (
      <Link to="/runs/$run/steps/$step" params={{ run, step: String(trainingStep) }}>
        Step {trainingStep}
      </Link>
    ),
  },
  { id: 'groups', title: 'Groups', align: 'end', cell: ({ groupCount }) => count(groupCount) },
  { id: 'trajectories', title: 'Trajectories', align: 'end', cell: ({ trajectoryCount }) => count(trajectoryCount) },
  { id: 'turns', title: 'Turns', align: 'end', cell: ({ turnCount }) => count(turnCount) },
  { id: 'success', title: 'Success', align: 'end', cell: ({ successRate }) => percent(successRate) },
  { id: 'outcome', title: 'Mean outcome', align: 'end', cell: ({ meanOutcomeReward }) => decimal(meanOutcomeReward) },
];

export function TrainingSteps({ run, position }: { readonly run: string; readonly position: number }) {
  const { after } = useSearch({ from: '/runs/$run' });
  const { data, error, again } = useLiveQuery(StepsQuery, { run, after: after ?? null }, position);
  const page = data?.run?.trainingSteps;
  return (
    <Panel title="Training steps">
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={36} count={8} />}
      {page?.edges.length === 0 && <Empty title="No training step yet" />}
      {page && page.edges.length > 0 && (
        <DataTable
          label="Training steps"
          rows={page.edges.map(({ node }) => node)}
          columns={columnsOf(run)}
          keyOf={({ trainingStep }) => String(trainingStep)}
        />
      )}
      {page && (after || page.pageInfo.hasNextPage) && (
        <div className="pager">
          {after && (
            <Link
              className="button"
              from="/runs/$run"
              to="."
              resetScroll={false}
              search={(old) => without(old, 'after')}
            >
              First
            </Link>
          )}
          {page.pageInfo.hasNextPage && (
            <Link
              className="button"
              from="/runs/$run"
              to="."
              resetScroll={false}
              search={(old) => ({ ...old, after: page.pageInfo.endCursor ?? '' })}
            >
              Next
            </Link>
          )}
        </div>
      )}
    </Panel>
  );
}
