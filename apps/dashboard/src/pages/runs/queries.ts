import { graphql, type ResultOf } from '../../graphql.js';

/** What stands behind a row on screen; of rows far above it nobody asks for their alerts and their curve. */
const RunRowFields = graphql(`
  fragment RunRow on Run @_unmask {
    id
    name
    project
    state
    progress {
      lastTrainingStep
      trajectoryCount
      turnCount
      successRate
      lastEventAt
    }
    alerts(isOpen: true, first: 20) @include(if: $isFull) {
      edges {
        node {
          id
          level
        }
      }
    }
    metric(name: "successRate", points: 48) @include(if: $isFull) {
      points {
        trainingStep
        value
      }
    }
  }
`);

export const RunsQuery = graphql(
  `
    query Runs(
      $project: String
      $filter: RunFilter
      $order: RunOrder
      $first: Int!
      $after: String
      $isFull: Boolean!
      $isCounted: Boolean!
    ) {
      runs(project: $project, filter: $filter, order: $order, first: $first, after: $after) {
        edges {
          cursor
          node {
            ...RunRow
          }
        }
        pageInfo {
          hasNextPage
        }
        count @include(if: $isCounted)
      }
    }
  `,
  [RunRowFields],
);

export const ProjectsQuery = graphql(`
  query RunProjects {
    projects(first: 100) {
      edges {
        node {
          id
          name
        }
      }
    }
  }
`);

export type RunRow = ResultOf<typeof RunRowFields>;
