import { graphql, type ResultOf } from '../../graphql.js';

/** All of a plan, but for the turns to replay: those are read when somebody asks. */
const PlanFields = graphql(`
  fragment PlanOfRun on Plan @_unmask {
    asOf
    pendingSteps
    plateauCauses
    health {
      level
      diagnostic
      rule
      says
      saw
      since
      remedy
    }
    bands {
      band
      tasks {
        task
        attempts
        successes
        posteriorMean
        learnability
        mixedProbability
        needsHint
      }
    }
    budget {
      rollouts
      shares {
        task
        attempts
        successes
        predicted
        lastRollouts
        rollouts
        mixed
      }
      starts {
        task
        trajectory
        prefixTurns
        predicted
        rollouts
        mixed
      }
    }
    restarts {
      task
      trainingStep
      trajectory
      prefixTurns
      success
      continuations
      score
      reason
    }
    drop {
      task
      attempts
      why
      advice
    }
    failures {
      representative
      trainingStep
      size
      share
      tasks
      fault
    }
  }
`);

export const PlanQuery = graphql(
  `
    query Plan($run: ID!) {
      run(id: $run) {
        id
        plan {
          ...PlanOfRun
        }
      }
    }
  `,
  [PlanFields],
);

/** What is kept as a file is what `recredit plan --json` gives. */
export const WholePlanQuery = graphql(
  `
    query WholePlan($run: ID!) {
      run(id: $run) {
        id
        plan {
          ...PlanOfRun
          restarts {
            prefix {
              index
              state
              action
            }
          }
        }
      }
    }
  `,
  [PlanFields],
);

/** The longest prefix that is written out; a page of turns. */
export const SHOWN_TURNS = 100;

export const PrefixQuery = graphql(`
  query Prefix($run: ID!, $trajectory: ID!, $turns: Int!) {
    trajectory(run: $run, id: $trajectory) {
      id
      turns(first: $turns) {
        edges {
          node {
            index
            action
          }
        }
      }
    }
  }
`);

export type Plan = ResultOf<typeof PlanFields>;
export type Restart = Plan['restarts'][number];
