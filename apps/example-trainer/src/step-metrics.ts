import type { Update } from './learner.js';
import type { Sampled } from './sample-group.js';

/** What one training step showed. The names are those of its metrics. */
export interface StepMetrics {
  readonly successRate: number;
  readonly meanReward: number;
  readonly meanTurns: number;
  /** mean over the turns of the policy's entropy over whole commands, in nats */
  readonly entropy: number;
  /** what the success rate should have been: the exact chance of success, mean over the groups */
  readonly exactSuccessRate: number;
  /** share of groups in which some rollouts succeed and some fail */
  readonly mixedGroupShare: number;
  /** root mean square of valueEstimate against the exact value */
  readonly criticError: number;
  readonly loss: number;
  readonly gradNorm: number;
}

export function metricsOf(groups: readonly (readonly Sampled[])[], { loss, gradNorm }: Update): StepMetrics {
  const sampled = groups.flat();
  const turns = sampled.flatMap(({ record }) => record.turns);
  const errors = sampled.flatMap(({ record, exact, steps }) =>
    steps.map(({ state, remaining }, turn) => record.turns[turn].signals.valueEstimate - exact.value(state, remaining)),
  );
  return {
    successRate: mean(sampled.map(({ record }) => Number(record.success))),
    meanReward: mean(sampled.map(({ record }) => record.outcomeReward)),
    meanTurns: turns.length / sampled.length,
    entropy: mean(turns.map(({ signals }) => signals.entropy)),
    exactSuccessRate: mean(groups.map(([{ exact, steps }]) => exact.value(0, steps[0].remaining))),
    mixedGroupShare: mean(groups.map((group) => Number(new Set(group.map(({ record }) => record.success)).size > 1))),
    criticError: Math.sqrt(mean(errors.map((error) => error * error))),
    loss,
    gradNorm,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
