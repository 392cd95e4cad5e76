import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { graphql, type ResultOf } from '../../graphql.js';
import { count, counted, credit as creditText } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { Text } from '../../ui/Text.js';
import { without } from '../../without.js';
import { commonStart } from './common-start.js';
import { RolloutStrips, type StripRollout } from './RolloutStrips.js';
import { stateGraph, type ActionEdge, type StateGraph, type StateNode } from './state-graph.js';
import { StateGraphDrawing } from './StateGraphDrawing.js';
import { useAsked } from '../../use-asked.js';

const AnalysesQuery = graphql(`
  query CreditOfGroup($run: ID!) {
    run(id: $run) {
      id
      analyses(first: 10) {
        edges {
          node {
            id
            state
            estimators {
              label
            }
            comparison {
              estimators {
                id
                std
              }
            }
          }
        }
      }
    }
  }
`);

const PathsQuery = graphql(`
  query Paths($run: ID!, $step: Int!, $group: String!, $analysis: ID!, $credited: Boolean!) {
    run(id: $run) {
      id
      trajectories(filter: { trainingStep: $step, group: $group }, first: 16) {
        edges {
          node {
            id
            success
            outcomeReward
            turnCount
            turns(first: 60) {
              edges {
                node {
                  index
                  stateKey
                  stateExcerpt
                  actionExcerpt
                  credit(analysis: $analysis) @include(if: $credited) {
                    estimator
                    credit
                  }
                }
              }
            }
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  }
`);

const ROLLOUTS = 16;
const TURNS = 60;
const LISTED = 8;
/** Drawn strongest from so many spreads of the estimator on. */
const FULL_SPREADS = 2;
const FROM = '/runs/$run/steps/$step';

interface SharedStatesProps {
  readonly run: string;
  readonly trainingStep: number;
  readonly group: string;
  /** tells which rollouts pass the state that somebody looks at */
  readonly onLook: (rollouts: ReadonlySet<string>) => void;
}

/** Where the rollouts of a group meet and part: equal states merged, actions as lines coloured by credit. */
export function SharedStates({ run, trainingStep, group, onLook }: SharedStatesProps) {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const [hovered, setHovered] = useState<string | null>(null);
  const { data: known } = useAsked({ query: AnalysesQuery, variables: { run } });
  const analysis = known?.run?.analyses.edges.map(({ node }) => node).find(({ comparison }) => comparison !== null);
  const labels = analysis?.estimators.map(({ label }) => label) ?? [];
  const estimator = labels.find((label) => label === search.credit) ?? labels.at(-1);
  const { data, error, again } = useAsked({
    query: PathsQuery,
    variables: { run, step: trainingStep, group, analysis: analysis?.id ?? '', credited: analysis !== undefined },
    pause: !known,
  });
  const page = data?.run?.trajectories;
  const rollouts = useMemo(() => (page ? rolloutsOf(page, estimator) : []), [page, estimator]);
  const graph = useMemo(() => stateGraph(rollouts), [rollouts]);
  const shared = useMemo(() => sharedOf(graph), [graph]);
  const sharedKeys = useMemo(() => new Set(shared.map(({ node }) => node.key)), [shared]);
  const spread = analysis?.comparison?.estimators.find(({ id }) => id === estimator)?.std;
  const full = spread ? FULL_SPREADS * spread : strongest(graph.edges);
  const isCut = page?.pageInfo.hasNextPage || page?.edges.some(({ node }) => node.turnCount > TURNS);
  const chosen = graph.nodes.find(({ key, end }) => key === search.state && end === null);

  const looked = hovered ?? chosen?.key ?? null;
  useEffect(() => {
    onLook(graph.nodes.find(({ key }) => key === looked)?.rollouts ?? new Set());
  }, [graph, looked, onLook]);
  const choose = (key: string) =>
    void navigate({
      search: (old) => (old.state === key ? without(old, 'state') : { ...old, state: key }),
      replace: true,
      resetScroll: false,
    });

  return (
    <Panel
      title="Shared states"
      hint={
        page && graph.nodes.length > 0
          ? `${counted(shared.length, 'state')} seen by more than one rollout${isCut ? `; of the first ${ROLLOUTS} rollouts, ${TURNS} turns each` : ''}`
          : undefined
      }
      actions={
        labels.length > 0 && (
          <span className="filters">
            <label>
              Credit by
              <select
                value={estimator}
                onChange={({ target }) =>
                  void navigate({
                    search: (old) => ({ ...old, credit: target.value }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              >
                {labels.map((label) => (
                  <option key={label}>{label}</option>
                ))}
              </select>
            </label>
          </span>
        )
      }
    >
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={220} />}
      {page && graph.nodes.length === 0 && <Empty title="No turn of this group has been recorded" />}
      {graph.nodes.length > 0 && (
        <>
          <p className="scale">
            <span>
              <i className="swatch swatch-below" />
              credit below zero
            </span>
            <span>
              <i className="swatch swatch-above" />
              above
            </span>
            <span>a turn each, best outcome first; tall where another rollout saw the same state</span>
          </p>
          <RolloutStrips
            run={run}
            rollouts={rollouts}
            shared={sharedKeys}
            full={full}
            looked={looked}
            onLook={setHovered}
            onChoose={choose}
          />
          <p className="hint">States stand where they were first seen; a thicker line is taken more often.</p>
          <StateGraphDrawing graph={graph} full={full} looked={looked} onLook={setHovered} onChoose={choose} />
        </>
      )}
      {chosen && <ChosenState run={run} node={chosen} graph={graph} onClose={() => choose(chosen.key)} />}
      {shared.length > 0 && (
        <DataTable<SharedState>
          label="Shared states"
          rows={shared.slice(0, LISTED)}
          columns={sharedColumns(choose, commonStart(shared.map(({ node }) => node.state)))}
          keyOf={({ node }) => node.key}
          isMarked={({ node }) => node.key === looked}
        />
      )}
    </Panel>
  );
}

type Page = NonNullable<ResultOf<typeof PathsQuery>['run']>['trajectories'];

function rolloutsOf({ edges }: Page, estimator: string | undefined): StripRollout[] {
  return edges.map(({ node: { id, success, outcomeReward, turns } }) => ({
    id,
    success,
    outcome: outcomeReward,
    turns: turns.edges.map(({ node: { index, stateKey, stateExcerpt, actionExcerpt, credit } }) => ({
      index,
      stateKey,
      state: stateExcerpt,
      action: actionExcerpt,
      credit: credit?.find((one) => one.estimator === estimator)?.credit ?? null,
    })),
  }));
}

function strongest(edges: readonly ActionEdge[]): number {
  return edges.reduce((most, { credit }) => Math.max(most, Math.abs(credit ?? 0)), 0) || 1;
}

interface SharedState {
  readonly node: StateNode;
  /** what was done there, best credit first */
  readonly actions: readonly ActionEdge[];
}

/** States that several rollouts saw, those with the widest choice first. */
function sharedOf({ nodes, edges }: StateGraph): SharedState[] {
  const from = Map.groupBy(edges, (edge) => edge.from);
  const rangeOf = ({ actions }: SharedState) => (actions.at(0)?.credit ?? 0) - (actions.at(-1)?.credit ?? 0);
  return nodes
    .filter(({ end, rollouts }) => end === null && rollouts.size > 1)
    .map((node) => ({
      node,
      actions: (from.get(node.key) ?? []).toSorted((a, b) => (b.credit ?? 0) - (a.credit ?? 0)),
    }))
    .sort((a, b) => rangeOf(b) - rangeOf(a) || b.node.rollouts.size - a.node.rollouts.size);
}

function sharedColumns(choose: (key: string) => void, common: number): readonly Column<SharedState>[] {
  return [
    {
      id: 'state',
      title: 'State',
      cell: ({ node }) => (
        <button type="button" className="link" onClick={() => choose(node.key)} title={visibleText(node.state)}>
          <Text>{common > 0 ? `… ${node.state.slice(common)}` : node.state}</Text>
        </button>
      ),
    },
    { id: 'rollouts', title: 'Rollouts', align: 'end', cell: ({ node }) => count(node.rollouts.size) },
    { id: 'actions', title: 'Actions', align: 'end', cell: ({ actions }) => count(actions.length) },
    { id: 'best', title: 'Highest credit', cell: ({ actions }) => <Action edge={actions.at(0)} /> },
    {
      id: 'worst',
      title: 'Lowest credit',
      cell: ({ actions }) => (actions.length > 1 ? <Action edge={actions.at(-1)} /> : '–'),
    },
  ];
}

function Action({ edge }: { readonly edge: ActionEdge | undefined }) {
  if (!edge) return '–';
  const { credit, action } = edge;
  return (
    <>
      <span className={`number ${(credit ?? 0) > 0 ? 'above' : (credit ?? 0) < 0 ? 'below' : ''}`}>
        {creditText(credit, 2)}
      </span>{' '}
      <span className="mono">
        <Text>{action.length > 60 ? `${action.slice(0, 60)}…` : action}</Text>
      </span>
    </>
  );
}

interface ChosenStateProps {
  readonly run: string;
  readonly node: StateNode;
  readonly graph: StateGraph;
  readonly onClose: () => void;
}

/** What was done in a state, by whom, and what that was worth. */
function ChosenState({ run, node, graph, onClose }: ChosenStateProps) {
  const actions = graph.edges
    .filter(({ from }) => from === node.key)
    .toSorted((a, b) => (b.credit ?? 0) - (a.credit ?? 0));
  return (
    <div className="chosen-state">
      <p>
        <Text>{node.state}</Text>{' '}
        <button type="button" className="chip" onClick={onClose}>
          Close
        </button>
      </p>
      <ul className="evidence">
        {actions.map((edge) => (
          <li key={`${edge.action} ${edge.to}`}>
            <Action edge={edge} />
            <span className="hint">
              {edge.turns.map(({ rollout, turn }, i) => (
                <span key={`${rollout} ${turn}`}>
                  {i > 0 && ', '}
                  <Link
                    to="/runs/$run/trajectories/$trajectory"
                    params={{ run, trajectory: rollout }}
                    search={{ turn }}
                  >
                    <Text>{rollout}</Text> turn {turn}
                  </Link>
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
