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
      annotations(first: 500) {
        edges {
          node {
            position
            turn
            annotator
            signals
            rationale
            failure
            recordedAt
          }
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  }
`);

export const AnnotateMutation = graphql(`
  mutation Annotate($input: AnnotateInput!) {
    annotate(input: $input)
  }
`);

/** Tokens are many, so they are asked for turn by turn, when somebody looks at them. */
export const TokensQuery = graphql(`
  query Tokens($run: ID!, $trajectory: ID!, $after: String) {
    trajectory(run: $run, id: $trajectory) {
      id
      turns(first: 1, after: $after) {
        edges {
          node {
            index
            tokens
          }
        }
      }
    }
  }
`);

/** The same of what the estimators of an analysis say of them. */
export const TokenCreditQuery = graphql(`
  query TokenCredit($run: ID!, $trajectory: ID!, $analysis: ID!, $after: String) {
    trajectory(run: $run, id: $trajectory) {
      id
      turns(first: 1, after: $after) {
        edges {
          node {
            index
            credit(analysis: $analysis) {
              estimator
              tokenCredit
            }
          }
        }
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
            cursor
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
            cursor
            node {
              ...TurnText
              credit(analysis: $analysis) {
                estimator
                credit
                level
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
  /** of its place in the list of turns */
  readonly cursor: string;
  readonly credit?: readonly {
    readonly estimator: string;
    readonly credit: number | null;
    /** what carries it */
    readonly level: string | null;
  }[];
}

export type RunOfTrajectory = NonNullable<ResultOf<typeof TrajectoryQuery>['run']>;
export type AnnotationOfTrajectory = NonNullable<
  ResultOf<typeof TrajectoryQuery>['trajectory']
>['annotations']['edges'][number]['node'];
