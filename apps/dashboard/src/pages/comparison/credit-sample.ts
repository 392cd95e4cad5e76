import { graphql, type ResultOf } from '../../graphql.js';

export const SampleQuery = graphql(`
  query CreditSample($analysis: ID!, $x: String!, $y: String!) {
    analysis(id: $analysis) {
      id
      creditSample(x: $x, y: $y, points: 1500) {
        sampled
        ofTurns
        shards
        ofShards
        x
        y
        run
        trainingStep
        trajectory
        turn
      }
    }
  }
`);

/** Turns in columns, as they came. */
export type Sample = NonNullable<ResultOf<typeof SampleQuery>['analysis']>['creditSample'];
