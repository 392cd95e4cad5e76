import { Link } from '@tanstack/react-router';
import { graphql, type ResultOf } from '../../graphql.js';
import { count, decimal } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';
import { useAsked } from '../../use-asked.js';

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
    query Rollouts($run: ID!, $step: Int!, $group: String!) {
      run(id: $run) {
        id
        trajectories(filter: { trainingStep: $step, group: $group }, first: 200) {
          edges {
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

const columnsOf = (run: string): readonly Column<Rollout>[] => [
  {
    id: 'id',
    title: 'Trajectory',
    cell: ({ id }) => (
      <Link to="/runs/$run/trajectories/$trajectory" params={{ run, trajectory: id }}>
        <Text>{id}</Text>
      </Link>
    ),
  },
  { id: 'result', title: 'Result', cell: (rollout) => <Result rollout={rollout} /> },
  { id: 'outcome', title: 'Outcome', align: 'end', cell: ({ outcomeReward }) => decimal(outcomeReward, 2) },
  { id: 'turns', title: 'Turns', align: 'end', cell: ({ turnCount }) => count(turnCount) },
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
  const { data, error, again } = useAsked({
    query: RolloutsQuery,
    variables: { run, step: trainingStep, group },
    requestPolicy: 'cache-and-network',
  });
  const page = data?.run?.trajectories;
  return (
    <Panel title={visibleText(group)} hint={page?.pageInfo.hasNextPage ? 'the first 200 rollouts' : 'its rollouts'}>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={38} count={8} />}
      {page && (
        <DataTable
          label={`Rollouts of ${visibleText(group)}`}
          rows={page.edges.map(({ node }) => node)}
          columns={columnsOf(run)}
          keyOf={({ id }) => id}
          isMarked={({ id }) => marked.has(id)}
        />
      )}
    </Panel>
  );
}
