import type { StepCredit } from './credit-step.js';
import { creditedChoices, type CreditedChoice } from './learner.js';
import type { RunPort } from './port.js';
import type { Sampled } from './sample-group.js';

/** A trajectory and what the estimator says of its turns. NaN: nothing. */
export interface Credited {
  readonly sampled: Sampled;
  /** [turns] */
  readonly turnAdvantages: Float64Array;
  /** [turns][tokens]; null: the tokens of a turn share its advantage */
  readonly tokenAdvantages: readonly Float64Array[] | null;
}

/** Deals the rows of a training step's credit out to its trajectories. */
export function credited(trajectories: readonly Sampled[], { turn, token }: StepCredit): Credited[] {
  let turnRow = 0;
  let tokenRow = 0;
  return trajectories.map((sampled) => {
    const { turns } = sampled.record;
    const turnAdvantages = turn.subarray(turnRow, (turnRow += turns.length));
    const tokenAdvantages = token
      ? turns.map(({ tokens }) => token.subarray(tokenRow, (tokenRow += tokens.mask.length)))
      : null;
    return { sampled, turnAdvantages, tokenAdvantages };
  });
}

/** Logs a trajectory, turn by turn, with the advantages that the update will use. */
export function logTrajectory(run: RunPort, { sampled, turnAdvantages, tokenAdvantages }: Credited): void {
  const { id, group, trainingStep, turns, ...end } = sampled.record;
  const trajectory = run.trajectory({ id, group, trainingStep });
  turns.forEach(({ signals, tokens, ...turn }, index) => {
    const loggedTokens = tokenAdvantages && { loggedAdvantage: Array.from(tokenAdvantages[index], said) };
    trajectory.turn({
      ...turn,
      signals: { ...signals, loggedAdvantage: said(turnAdvantages[index]) },
      tokens: { ...tokens, ...loggedTokens },
    });
  });
  trajectory.end(end);
}

/** The choices that the update learns from. Where the estimator says nothing, nothing is learned. */
export function choicesOf({ sampled, turnAdvantages, tokenAdvantages }: Credited): CreditedChoice[] {
  const { policy, task, steps } = sampled;
  return steps.flatMap(({ state, command }, turn) => {
    const { choices } = task.tree.commands[task.graph.viewOf[state]][command];
    const advantageOf = (word: number) => tokenAdvantages?.[turn][word] ?? turnAdvantages[turn];
    return creditedChoices(policy, choices, (word) => advantageOf(word) || 0);
  });
}

/** JSON has no NaN: null says that there was no number to log. */
function said(advantage: number): number | null {
  return Number.isNaN(advantage) ? null : advantage;
}
