import { graphql, type ResultOf } from '../../graphql.js';

const LabelScoreFields = graphql(`
  fragment LabelScores on LabelScore @_unmask {
    n
    withinTrajectoryPairAccuracy
    auc
    spearman
    firstErrorHit
    intervals
  }
`);

const ComparisonFields = graphql(
  `
    fragment ComparisonNumbers on Comparison @_unmask {
      trajectories
      turns
      groups
      groupsWithSignal
      successRate
      meanOutcome
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
        groupsWithSignal
        stability {
          leftOut
          turns
          meanMaxMove
          signUnstableShare
          relativeInstability
        }
        gradient {
          from
          length
          push
          turns
        }
        detail
      }
      pairs {
        a
        b
        pearson
        spearman
        signAgreement
        gradientCosine
      }
      annotators {
        signal
        annotators {
          annotator
          turns
        }
        estimators {
          estimator
          spread
          consensus {
            ...LabelScores
          }
          without {
            annotator
            ...LabelScores
          }
        }
      }
      truths {
        signal
        estimator
        n
        auc
        spearman
        withinTrajectoryPairAccuracy
        gradientCosine
        detail
      }
      disputed {
        run
        trajectory
        turn
        values
      }
    }
  `,
  [LabelScoreFields],
);

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
          version
          hash
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
              run
              trainingStep
              reason
            }
          }
          pageInfo {
            hasNextPage
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

export type Analysis = NonNullable<ResultOf<typeof AnalysisQuery>['analysis']>;
export type Comparison = ResultOf<typeof ComparisonFields>;
export type Annotators = Comparison['annotators'][number];
export type Truth = Comparison['truths'][number];
export type Profile = Comparison['estimators'][number];
