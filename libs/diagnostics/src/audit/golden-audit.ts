import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { auditStep, type Claim, type StepAudit } from './audit-step.js';
import { OUTCOME_FORMULAS } from './outcome-formulas.js';
import { TURN_FORMULAS, turnRewards } from './turn-formulas.js';

/** The audit of one golden case, under the file's own names. */
export function goldenAudit(
  trajectories: TrajectoryBatch,
  params: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const level = params['level'] === 'token' ? 'token' : 'turn';
  const values = numbers(trajectories, `${level}.${String(params['signal'])}`) ?? [];
  const claim = claimed(trajectories, String(params['claimed']), Number(params['gamma'] ?? 1));
  const found = auditStep(trajectories, claim, { level, values });
  return found ? named(found, claim) : {};
}

/** The claim is a formula of the audit's own tables. */
function claimed(trajectories: TrajectoryBatch, formula: string, gamma: number): Claim {
  const ofTurns = TURN_FORMULAS.find(({ id }) => id === formula);
  if (ofTurns) {
    const rewards = turnRewards(trajectories, numbers(trajectories, 'turn.reward') ?? [], gamma);
    return { formula, gamma, level: 'turn', advantage: ofTurns.advantage(rewards) };
  }
  const { groupOf, groupCount } = trajectories;
  const reward = Float64Array.from(numbers(trajectories, 'trajectory.outcomeReward') ?? []);
  const outcomes = { reward, groupOf, groupCount, turns: new Float64Array(groupOf.length).fill(1), excluded: null };
  const advantage = OUTCOME_FORMULAS.find(({ id }) => id === formula)?.advantage(outcomes);
  return { formula, gamma, level: 'trajectory', advantage: advantage ?? new Float64Array(groupOf.length) };
}

function named({ explanation, equallyGood, nearest, mask, ...found }: StepAudit, { formula, level }: Claim) {
  // Of formulas over turn rewards the file names formulas alone.
  const nameOf = (one: { formula: string; transform: string }) =>
    level === 'turn' ? one.formula : `${one.formula}/${one.transform}`;
  return {
    ...found,
    ...mask,
    claimed: formula,
    explanation,
    formula: explanation?.formula ?? null,
    equallyGood: equallyGood.map(nameOf),
    relativeError:
      nearest.length > 0 ? Object.fromEntries(nearest.map((near) => [near.formula, near.relativeError])) : null,
  };
}
