import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { graphql, type ResultOf } from '../../graphql.js';
import { count, decimal, percent } from '../../text/numbers.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { useRows } from '../../rows/use-rows.js';
import { said } from '../../said.js';
import { useOnChange } from '../../use-live.js';
import { FRESH_MS } from './live-query.js';

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
    query TrainingSteps($run: ID!, $first: Int!, $after: String) {
      run(id: $run) {
        id
        trainingSteps(first: $first, after: $after) {
          edges {
            cursor
            node {
              ...StepRow
            }
          }
          pageInfo {
            hasNextPage
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
    width: 110,
    cell: ({ trainingStep }) => (
      <Link to="/runs/$run/steps/$step" params={{ run, step: String(trainingStep) }}>
        Step {trainingStep}
      </Link>
    ),
  },
  { id: 'groups', title: 'Groups', width: 72, align: 'end', cell: ({ groupCount }) => count(groupCount) },
  {
    id: 'trajectories',
    title: 'Trajectories',
    width: 104,
    align: 'end',
    cell: ({ trajectoryCount }) => count(trajectoryCount),
  },
  { id: 'turns', title: 'Turns', width: 84, align: 'end', cell: ({ turnCount }) => count(turnCount) },
  { id: 'success', title: 'Success', width: 84, align: 'end', cell: ({ successRate }) => percent(successRate) },
  {
    id: 'outcome',
    title: 'Mean outcome',
    width: 116,
    align: 'end',
    cell: ({ meanOutcomeReward }) => decimal(meanOutcomeReward),
  },
];

const keyOf = ({ trainingStep }: Step) => String(trainingStep);

export function TrainingSteps({ run, position }: { readonly run: string; readonly position: number }) {
  const { row } = useSearch({ from: '/runs/$run' });
  const navigate = useNavigate({ from: '/runs/$run' });
  const list = useRows({
    of: `training steps ${run}`,
    query: StepsQuery,
    variablesOf: ({ first, after }) => ({ run, first, after }),
    connectionOf: (data) => data.run?.trainingSteps,
    keyOf,
    startAt: row,
  });
  useOnChange(position, list.again, FRESH_MS);
  const columns = useMemo(() => columnsOf(run), [run]);
  const isEmpty = list.of !== null && list.rows.length === 0;
  return (
    <Panel title="Training steps">
      {list.error && <Failure message={list.error.message} onRetry={list.again} />}
      {isEmpty && <Empty title="No training step yet" />}
      {!isEmpty && (list.of !== null || !list.error) && (
        <DataTable
          label="Training steps"
          rows={list.rows}
          columns={columns}
          keyOf={keyOf}
          endless={list}
          row={row}
          onRow={(row) =>
            void navigate({
              search: (old) => said({ ...old, row: row || undefined }),
              replace: true,
              resetScroll: false,
            })
          }
        />
      )}
    </Panel>
  );
}
