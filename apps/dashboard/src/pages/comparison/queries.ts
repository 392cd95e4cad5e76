import { graphql, type ResultOf } from '../../graphql.js';

const ComparisonFields = graphql(`
  fragment ComparisonNumbers on Comparison @_unmask {
    trajectories
    turns
    groups
    groupsWithSignal
    successRate
    sample {
      sampled
      turns
      ofTurns
    }
    estimators {
      id
      turns
      signalDensity
      mean
      std
      withinTrajectoryShare
      gini
      effectiveTurns
      detail
    }
    pairs {
      a
      b
      pearson
      spearman
      signAgreement
    }
    truths {
      signal
      estimator
      n
      auc
      spearman
      withinTrajectoryPairAccuracy
      detail
    }
    disputed {
      run
      trajectory
      turn
      values
    }
  }
`);

export const AnalysisQuery = graphql(
  `
    query Analysis($analysis: ID!) {
      analysis(id: $analysis) {
        id
        state
        failure
        createdAt
        runs {
          run
          asOf
        }
        stateIdentity {
          by
          threshold
          excludeGeneric
        }
        estimators {
          label
          id
          params
          inputsMissing {
            path
            rows
            of
            recordedAs
          }
          warnings
          failures {
            reason
            shards
          }
        }
        costs {
          estimator
          device
          seconds
        }
        shards(first: 20, state: FAILED) {
          edges {
            node {
              trainingStep
              reason
            }
          }
        }
        comparison {
          ...ComparisonNumbers
        }
      }
    }
  `,
  [ComparisonFields],
);

export const RunNameQuery = graphql(`
  query RunName($run: ID!) {
    run(id: $run) {
      id
      name
    }
  }
`);

export type Analysis = NonNullable<ResultOf<typeof AnalysisQuery>['analysis']>;
export type Comparison = ResultOf<typeof ComparisonFields>;
export type Truth = Comparison['truths'][number];
export type Profile = Comparison['estimators'][number];
