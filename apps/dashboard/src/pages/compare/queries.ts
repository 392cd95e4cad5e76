import { graphql, type ResultOf } from '../../graphql.js';

const ComparedFields = graphql(`
  fragment ComparedRun on Run @_unmask {
    id
    name
    project
    progress {
      state
      lastTrainingStep
      groupCount
      trajectoryCount
      turnCount
      successRate
      meanOutcomeReward
      lastEventAt
    }
    trainingSteps(first: 2) {
      edges {
        node {
          trainingStep
          metrics
        }
      }
    }
    diagnostics {
      id
      title
      headline
      value
    }
    analyses(first: 5) {
      edges {
        node {
          id
          comparison {
            estimators {
              id
              std
              signalDensity
            }
          }
        }
      }
    }
  }
`);

export const TwoRunsQuery = graphql(
  `
    query TwoRuns($a: ID!, $b: ID!) {
      a: run(id: $a) {
        ...ComparedRun
      }
      b: run(id: $b) {
        ...ComparedRun
      }
    }
  `,
  [ComparedFields],
);

export const TwoMetricsQuery = graphql(`
  query TwoMetrics($a: ID!, $b: ID!, $name: String!, $firstStep: Int, $lastStep: Int) {
    a: run(id: $a) {
      id
      metric(name: $name, points: 800, firstStep: $firstStep, lastStep: $lastStep) {
        sampled
        points {
          trainingStep
          value
        }
      }
    }
    b: run(id: $b) {
      id
      metric(name: $name, points: 800, firstStep: $firstStep, lastStep: $lastStep) {
        sampled
        points {
          trainingStep
          value
        }
      }
    }
  }
`);

export type ComparedRun = ResultOf<typeof ComparedFields>;
export type Two = readonly [ComparedRun, ComparedRun];
