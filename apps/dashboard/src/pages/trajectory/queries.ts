import { graphql, type ResultOf } from '../../graphql.js';

export const TrajectoryQuery = graphql(`
  query Trajectory($run: ID!, $trajectory: ID!) {
    run(id: $run) {
      id
      name
      signals {
        level
        name
        minimum
        maximum
      }
      analyses(first: 50) {
        edges {
          node {
            id
            state
            createdAt
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
    trajectory(run: $run, id: $trajectory) {
      id
      group
      trainingStep
      state
      outcomeReward
      success
      turnCount
      signals
      problems
      parent {
        trajectory
        turn
      }
    }
  }
`);

const TurnFields = graphql(`
  fragment TurnText on Turn @_unmask {
    index
    state
    action
    reward
    signals
  }
`);

/** Of a trajectory without an analysis to look at. */
export const TurnsQuery = graphql(
  `
    query Turns($run: ID!, $trajectory: ID!, $after: String) {
      trajectory(run: $run, id: $trajectory) {
        id
        turns(first: 100, after: $after) {
          edges {
            node {
              ...TurnText
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
  [TurnFields],
);

export const CreditedTurnsQuery = graphql(
  `
    query CreditedTurns($run: ID!, $trajectory: ID!, $analysis: ID!, $after: String) {
      trajectory(run: $run, id: $trajectory) {
        id
        turns(first: 100, after: $after) {
          edges {
            node {
              ...TurnText
              credit(analysis: $analysis) {
                estimator
                credit
              }
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
  [TurnFields],
);

type TurnText = ResultOf<typeof TurnFields>;

/** A turn, with what the estimators of an analysis say about it where one is looked at. */
export interface Turn extends TurnText {
  readonly credit?: readonly { readonly estimator: string; readonly credit: number | null }[];
}

export type RunOfTrajectory = NonNullable<ResultOf<typeof TrajectoryQuery>['run']>;
