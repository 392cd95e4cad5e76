import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { composeOffsets } from '#lib/numeric';
import { explain, type Explained, type Hypothesis } from './explain.js';
import { loggedOutcome, type TurnPattern } from './logged-outcome.js';
import { OUTCOME_FORMULAS, type Outcomes } from './outcome-formulas.js';
import { precisionOf, type Precision } from './precision.js';
import { auditMask, type MaskAudit } from './token-mask.js';
import type { TransformId } from './transforms.js';
import { TURN_FORMULAS, turnRewards } from './turn-formulas.js';

export type Verdict =
  | 'match'
  | 'zeroed-turns'
  | TransformId
  | 'other-formula'
  | 'other-order'
  | 'all-zero'
  | 'varies-within-trajectory'
  | 'unexplained';

/** What an audit of one training step found. */
export interface StepAudit extends Explained {
  readonly verdict: Verdict;
  readonly loggedPrecision: Precision;
  /** of an outcome credit logged per turn */
  readonly turnPattern: TurnPattern | null;
  /** of a credit logged per token */
  readonly mask: MaskAudit | null;
  /** a group-centred credit sums to 0 in every true group of two or more: the greatest |sum| */
  readonly groupSumMaxAbs: number;
  readonly rows: number;
  /** the rows that are furthest off, at most five */
  readonly worst: readonly WorstRow[];
}

export interface WorstRow {
  readonly trajectory: string;
  readonly group: string;
  /** null: the row is a trajectory */
  readonly turn: number | null;
  readonly logged: number;
  readonly recomputed: number;
}

/** What the trainer says it used, recomputed: one value per trajectory or per turn. */
export interface Claim {
  /** of a formula of the table, or any other name */
  readonly formula: string;
  readonly level: 'trajectory' | 'turn';
  /** [trajectories] or [turns] */
  readonly advantage: Float64Array;
  /** discount of turn rewards, for the hypotheses about their order */
  readonly gamma: number;
}

/** Where the logged advantage lies: a signal per turn, or per token. */
export interface Logged {
  readonly level: 'turn' | 'token';
  /** [turns] or [tokens] NaN: not said */
  readonly values: ArrayLike<number>;
}

const WORST = 5;

/**
 * Holds the advantages that a trainer logged against those it claims to have used, and names what explains the
 * difference (the decision procedure of methods/diagnostics.md; ours). A row is a trajectory where the claim is an
 * outcome credit, a turn where it speaks of turns; rows on which nothing was logged are left out.
 *
 * @returns null where no row was logged
 */
export function auditStep(trajectories: TrajectoryBatch, claim: Claim, logged: Logged): StepAudit | null {
  const { values, turnPattern, varying } = foldToRows(trajectories, claim, logged);
  const rows = [...values.keys()].filter(
    (row) => Number.isFinite(values[row]) && Number.isFinite(claim.advantage[row]),
  );
  if (rows.length === 0) return null;
  const pick = (column: ArrayLike<number>) => Float64Array.from(rows, (row) => column[row]);
  const precision = precisionOf(Float64Array.from(logged.values).filter(Number.isFinite));
  const claimed: Hypothesis = { id: claim.formula, cause: 'what the trainer says', advantage: pick(claim.advantage) };
  const others = hypotheses(trajectories, claim).map((other) => ({ ...other, advantage: pick(other.advantage) }));
  const found = explain(pick(values), claimed, others, precision);

  const isZero = rows.every((row) => values[row] === 0);
  const verdict = verdictOf(found, claim, { isZero, turnPattern, varies: varying.length > 0 });
  const isExplained = verdict !== 'all-zero' && verdict !== 'varies-within-trajectory';
  return {
    ...found,
    ...(!isExplained && { explanation: null, equallyGood: [] }),
    verdict,
    loggedPrecision: precision,
    turnPattern,
    mask: maskOf(trajectories, claim, logged),
    groupSumMaxAbs: greatestGroupSum(trajectories, claim, values),
    rows: rows.length,
    worst: worstRows(trajectories, claim, values, rows),
  };
}

/** The logged advantage, one value per row of the claim. */
function foldToRows({ turnOffsets, tokenOffsets }: TrajectoryBatch, { level }: Claim, logged: Logged) {
  const perTurn = logged.level === 'turn';
  if (level === 'trajectory') {
    const folded = loggedOutcome(logged.values, perTurn ? turnOffsets : composeOffsets(turnOffsets, tokenOffsets));
    // Zeros among the tokens are the mask's affair.
    return perTurn ? folded : { ...folded, turnPattern: null };
  }
  if (!perTurn) return { ...loggedOutcome(logged.values, tokenOffsets), turnPattern: null };
  return { values: Float64Array.from(logged.values), turnPattern: null, varying: [] };
}

function hypotheses(trajectories: TrajectoryBatch, claim: Claim): Hypothesis[] {
  const { turnOffsets } = trajectories;
  const outcomes = outcomesOf(trajectories);
  const ofOutcomes = outcomes
    ? OUTCOME_FORMULAS.map((formula) => ({ ...formula, found: formula.advantage(outcomes) }))
    : [];
  const known = ofOutcomes.flatMap(({ id, cause, found }) => (found ? [{ id, cause, advantage: found }] : []));
  if (claim.level === 'trajectory') return known.filter(({ id }) => id !== claim.formula);

  const reward = numbers(trajectories, 'turn.reward');
  const rewards = reward ? turnRewards(trajectories, reward, claim.gamma) : null;
  const ofTurns = rewards
    ? TURN_FORMULAS.map(({ id, cause, advantage }) => ({ id, cause, advantage: advantage(rewards) }))
    : [];
  const spread = known.map((formula) => ({ ...formula, advantage: onTurns(formula.advantage, turnOffsets) }));
  return [...ofTurns, ...spread].filter(({ id }) => id !== claim.formula);
}

function onTurns(values: Float64Array, turnOffsets: Int32Array): Float64Array {
  const spread = new Float64Array(turnOffsets[values.length]);
  for (let i = 0; i < values.length; i++) spread.fill(values[i], turnOffsets[i], turnOffsets[i + 1]);
  return spread;
}

function outcomesOf(trajectories: TrajectoryBatch): Outcomes | null {
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  if (!reward || reward.every(Number.isNaN)) return null;
  const { groupOf, groupCount, turnOffsets } = trajectories;
  const excluded = numbers(trajectories, 'trajectory.excluded');
  return {
    reward: Float64Array.from(reward),
    groupOf,
    groupCount,
    turns: Float64Array.from(groupOf, (_, i) => turnOffsets[i + 1] - turnOffsets[i]),
    excluded: excluded && Float64Array.from(excluded),
  };
}

interface Shape {
  readonly isZero: boolean;
  readonly turnPattern: TurnPattern | null;
  readonly varies: boolean;
}

function verdictOf({ explanation, mismatchShare }: Explained, { formula }: Claim, shape: Shape): Verdict {
  if (shape.varies) return 'varies-within-trajectory';
  if (shape.isZero && mismatchShare > 0) return 'all-zero';
  if (!explanation) return 'unexplained';
  if (explanation.formula !== formula) {
    const isOrder = [formula, explanation.formula].every((id) => TURN_FORMULAS.some((known) => known.id === id));
    return isOrder ? 'other-order' : 'other-formula';
  }
  if (explanation.transform !== 'identity') return explanation.transform;
  return shape.turnPattern ? 'zeroed-turns' : 'match';
}

function maskOf(trajectories: TrajectoryBatch, claim: Claim, logged: Logged): MaskAudit | null {
  if (logged.level !== 'token') return null;
  const mask = numbers(trajectories, 'token.mask');
  return auditMask(trajectories, logged.values, mask, (i) => isSilent(trajectories, claim, i));
}

/** Whether the claimed credit is 0 (or unsaid) on a whole trajectory. */
function isSilent({ turnOffsets }: TrajectoryBatch, { level, advantage }: Claim, i: number): boolean {
  const said =
    level === 'trajectory' ? advantage.subarray(i, i + 1) : advantage.subarray(turnOffsets[i], turnOffsets[i + 1]);
  return said.every((value) => !value);
}

function greatestGroupSum(
  { groupOf, groupCount, turnOffsets }: TrajectoryBatch,
  { level }: Claim,
  values: Float64Array,
) {
  const sums = new Float64Array(groupCount);
  const sizes = new Int32Array(groupCount);
  for (let i = 0; i < groupOf.length; i++) {
    const [from, to] = level === 'trajectory' ? [i, i + 1] : [turnOffsets[i], turnOffsets[i + 1]];
    for (let row = from; row < to; row++) {
      if (Number.isNaN(values[row])) continue;
      sums[groupOf[i]] += values[row];
      sizes[groupOf[i]]++;
    }
  }
  return sums.reduce((greatest, sum, group) => (sizes[group] >= 2 ? Math.max(greatest, Math.abs(sum)) : greatest), 0);
}

function worstRows(
  trajectories: TrajectoryBatch,
  claim: Claim,
  values: Float64Array,
  rows: readonly number[],
): WorstRow[] {
  const { ids, groups, groupOf, turnOffsets } = trajectories;
  const off = (row: number) => Math.abs(values[row] - claim.advantage[row]);
  const trajectoryOf = (row: number) => (claim.level === 'trajectory' ? row : ownerAt(turnOffsets, row));
  return rows
    .filter((row) => off(row) > 0)
    .sort((a, b) => off(b) - off(a))
    .slice(0, WORST)
    .map((row) => {
      const i = trajectoryOf(row);
      const turn = claim.level === 'trajectory' ? null : row - turnOffsets[i];
      const recomputed = claim.advantage[row];
      return { trajectory: ids[i], group: groups[groupOf[i]], turn, logged: values[row], recomputed };
    });
}

/** The trajectory that a turn belongs to. */
function ownerAt(turnOffsets: Int32Array, turn: number): number {
  let i = 0;
  while (turnOffsets[i + 1] <= turn) i++;
  return i;
}
