import { useMemo } from 'react';
import { graphql, type ResultOf } from '../../graphql.js';
import { useRows } from '../../rows/use-rows.js';
import { count, counted, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Failure } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { TrajectoryLink } from './TrajectoryLink.js';

const RolloutFields = graphql(`
  fragment RolloutRow on Trajectory @_unmask {
    id
    state
    outcomeReward
    success
    turnCount
  }
`);

const RolloutsQuery = graphql(
  `
    query Rollouts($run: ID!, $step: Int!, $group: String!, $first: Int!, $after: String) {
      run(id: $run) {
        id
        trajectories(filter: { trainingStep: $step, group: $group }, first: $first, after: $after) {
          edges {
            cursor
            node {
              ...RolloutRow
            }
          }
          pageInfo {
            hasNextPage
          }
        }
      }
    }
  `,
  [RolloutFields],
);

type Rollout = ResultOf<typeof RolloutFields>;

const keyOf = ({ id }: Rollout) => id;

const columnsOf = (run: string): readonly Column<Rollout>[] => [
  {
    id: 'id',
    title: 'Trajectory',
    cell: ({ id }) => <TrajectoryLink run={run} id={id} />,
  },
  { id: 'result', title: 'Result', width: 104, cell: (rollout) => <Result rollout={rollout} /> },
  { id: 'outcome', title: 'Outcome', width: 88, align: 'end', cell: ({ outcomeReward }) => decimal(outcomeReward, 2) },
  { id: 'turns', title: 'Turns', width: 72, align: 'end', cell: ({ turnCount }) => count(turnCount) },
];

/** What came of it; while it is not whole, that. */
function Result({ rollout: { state, success } }: { readonly rollout: Rollout }) {
  if (state !== 'FINISHED' || success === null) return <State state={state} />;
  return (
    <span className="result">
      <span className={`dot dot-${success ? 'success' : 'failure'}`} />
      {success ? 'success' : 'failure'}
    </span>
  );
}

interface RolloutsProps {
  readonly run: string;
  readonly trainingStep: number;
  readonly group: string;
  /** ids of those that pass the state that somebody looks at */
  readonly marked: ReadonlySet<string>;
}

/** The rollouts of one group. */
export function Rollouts({ run, trainingStep, group, marked }: RolloutsProps) {
  const list = useRows({
    of: `rollouts ${run} ${trainingStep} ${group}`,
    query: RolloutsQuery,
    variablesOf: ({ first, after }) => ({ run, step: trainingStep, group, first, after }),
    connectionOf: (data) => data.run?.trajectories,
    keyOf,
  });
  const columns = useMemo(() => columnsOf(run), [run]);
  return (
    <Panel
      title={visibleText(group)}
      hint={list.of !== null && `${counted(list.rows.length, 'rollout')}${list.hasMore ? ' and more' : ''}`}
    >
      {list.error && <Failure message={list.error.message} onRetry={list.again} />}
      {(list.of !== null || !list.error) && (
        <DataTable
          label={`Rollouts of ${visibleText(group)}`}
          rows={list.rows}
          columns={columns}
          keyOf={keyOf}
          isMarked={({ id }) => marked.has(id)}
          endless={list}
        />
      )}
    </Panel>
  );
}
