import { numbers, type Level, type TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { composeOffsets, ownerOf } from '#lib/numeric';
import { explain, type Explained, type Hypothesis } from './explain.js';
import { loggedOutcome, type TurnPattern } from './logged-outcome.js';
import { OUTCOME_FORMULAS, type Outcomes } from './outcome-formulas.js';
import { nearness, precisionOf, roundedTo, type Precision } from './precision.js';
import { lossOf, lossyRewards } from './rounding.js';
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
  /** of the turn; null: the row is no token */
  readonly token: number | null;
  readonly logged: number;
  readonly recomputed: number;
}

/** What the trainer says it used, recomputed: one value per row of its level. */
export interface Claim {
  /** of a formula of the table, or any other name */
  readonly formula: string;
  readonly level: Level;
  /** [rows of level] NaN: nothing is said */
  readonly advantage: Float64Array;
  /** [rows of level] how far a trainer that counts in float32 may be off; nothing if not said */
  readonly loss?: Float64Array | null;
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
 * outcome credit, else a turn or a token inside the mask; rows on which nothing was logged are left out.
 *
 * @returns null where no row was logged
 */
export function auditStep(trajectories: TrajectoryBatch, claim: Claim, logged: Logged): StepAudit | null {
  const { values, turnPattern, varying } = foldToRows(trajectories, claim, logged);
  const mask = claim.level === 'token' ? numbers(trajectories, 'token.mask') : null;
  const rows = [...values.keys()].filter(
    (row) => Number.isFinite(values[row]) && Number.isFinite(claim.advantage[row]) && mask?.[row] !== 0,
  );
  if (rows.length === 0) return null;
  const pick = (column: ArrayLike<number>) => Float64Array.from(rows, (row) => column[row]);
  const ofRows = (whole: Hypothesis): Hypothesis => ({
    ...whole,
    advantage: pick(whole.advantage),
    loss: whole.loss && pick(whole.loss),
  });
  const { formula, advantage, loss = null } = claim;
  const claimed = ofRows({ id: formula, cause: 'what the trainer says', advantage, loss });
  const precision = precisionIn(logged, pick(values), claimed);
  const found = explain(pick(values), claimed, hypotheses(trajectories, claim).map(ofRows), precision);

  const near = nearness({ precision, loss: claimed.loss }, claimed.advantage);
  const off = rows.filter((row, i) => !near(values[row], advantage[row], i));
  const isZero = rows.every((row) => values[row] === 0);
  const verdict = verdictOf(found, claim, { isZero, turnPattern, varies: varying.length > 0 });
  return {
    ...found,
    ...explanationOf(verdict, found),
    verdict,
    loggedPrecision: precision,
    turnPattern,
    mask: maskOf(trajectories, claim, logged),
    groupSumMaxAbs: greatestGroupSum(trajectories, claim, values, rows),
    rows: rows.length,
    worst: worstRows(trajectories, claim, values, off),
  };
}

/** What the numbers tell; where the claim is not met by that, what it tells of them. */
function precisionIn({ values }: Logged, ofRows: Float64Array, { advantage, loss }: Hypothesis): Precision {
  const precision = precisionOf(Float64Array.from(values).filter(Number.isFinite));
  const near = nearness({ precision, loss }, advantage);
  if (ofRows.every((value, i) => near(value, advantage[i], i))) return precision;
  return roundedTo(ofRows, advantage) ?? precision;
}

/** Where nothing is left to explain, the formulas that leave nothing are possible too: all that speak were excluded. */
function explanationOf(verdict: Verdict, { explanation, equallyGood }: Explained) {
  if (verdict === 'varies-within-trajectory') return { explanation: null, equallyGood: [] };
  if (verdict !== 'all-zero') return { explanation, equallyGood };
  return { explanation: null, equallyGood: explanation ? [explanation, ...equallyGood] : [] };
}

/** [trajectories + 1] where the rows of each trajectory lie. */
export function rowOffsets({ ids, turnOffsets, tokenOffsets }: TrajectoryBatch, level: Level): Int32Array {
  if (level === 'trajectory') return Int32Array.from({ length: ids.length + 1 }, (_, i) => i);
  return level === 'turn' ? turnOffsets : composeOffsets(turnOffsets, tokenOffsets);
}

/** The logged advantage, one value per row of the claim. */
function foldToRows(trajectories: TrajectoryBatch, { level }: Claim, logged: Logged) {
  if (level === logged.level) return { values: Float64Array.from(logged.values), turnPattern: null, varying: [] };
  if (level === 'trajectory') {
    const folded = loggedOutcome(logged.values, rowOffsets(trajectories, logged.level));
    // Zeros among the tokens are the mask's affair, and a pattern needs one value per trajectory.
    return logged.level === 'turn' && folded.varying.length === 0 ? folded : { ...folded, turnPattern: null };
  }
  if (level === 'turn') return { ...loggedOutcome(logged.values, trajectories.tokenOffsets), turnPattern: null };
  throw new RecreditError('request.invalid', 'a credit per token can be held against a signal per token only');
}

function hypotheses(trajectories: TrajectoryBatch, claim: Claim): Hypothesis[] {
  const { tokenOffsets } = trajectories;
  const offsets = rowOffsets(trajectories, claim.level);
  const outcomes = outcomesOf(trajectories);
  const lossy = outcomes && lossyRewards(outcomes);
  const eachRow = Int32Array.from(trajectories.ids.keys());
  const ofOutcomes = OUTCOME_FORMULAS.flatMap(({ id, cause, advantage }) => {
    const found = outcomes && advantage(outcomes);
    if (!found) return [];
    const moved = lossy && advantage({ ...outcomes, reward: lossy.nudged });
    const loss = moved && spread(lossOf(lossy, found, moved, eachRow), offsets);
    return [{ id, cause, advantage: spread(found, offsets), loss }];
  });
  const reward = numbers(trajectories, 'turn.reward');
  const rewards = reward && claim.level !== 'trajectory' ? turnRewards(trajectories, reward, claim.gamma) : null;
  const ofTurns = (rewards ? TURN_FORMULAS : []).map(({ id, cause, advantage }) => {
    const perTurn = advantage(rewards!);
    return { id, cause, advantage: claim.level === 'token' ? spread(perTurn, tokenOffsets) : perTurn, loss: null };
  });
  return [...ofTurns, ...ofOutcomes].filter(({ id }) => id !== claim.formula);
}

/** Each value on all its rows. */
function spread(values: Float64Array, offsets: Int32Array): Float64Array {
  const rows = new Float64Array(offsets[values.length]);
  for (let i = 0; i < values.length; i++) rows.fill(values[i], offsets[i], offsets[i + 1]);
  return rows;
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

function maskOf(trajectories: TrajectoryBatch, { level, advantage }: Claim, logged: Logged): MaskAudit | null {
  if (logged.level !== 'token') return null;
  const offsets = rowOffsets(trajectories, level);
  const isSilent = (i: number) => advantage.subarray(offsets[i], offsets[i + 1]).every((value) => !value);
  return auditMask(trajectories, logged.values, numbers(trajectories, 'token.mask'), isSilent);
}

function greatestGroupSum(
  trajectories: TrajectoryBatch,
  { level }: Claim,
  values: Float64Array,
  rows: readonly number[],
): number {
  const { groupOf, groupCount } = trajectories;
  const trajectoryOf = ownerOf(rowOffsets(trajectories, level));
  const sums = new Float64Array(groupCount);
  const sizes = new Int32Array(groupCount);
  for (const row of rows) {
    const group = groupOf[trajectoryOf[row]];
    sums[group] += values[row];
    sizes[group]++;
  }
  return sums.reduce((greatest, sum, group) => (sizes[group] >= 2 ? Math.max(greatest, Math.abs(sum)) : greatest), 0);
}

function worstRows(
  trajectories: TrajectoryBatch,
  { level, advantage }: Claim,
  values: Float64Array,
  rows: readonly number[],
): WorstRow[] {
  const { ids, groups, groupOf, turnOffsets, tokenOffsets } = trajectories;
  const trajectoryOf = ownerOf(rowOffsets(trajectories, level));
  const turnOf = level === 'token' ? ownerOf(tokenOffsets) : null;
  const distance = (row: number) => Math.abs(values[row] - advantage[row]);
  return rows
    .toSorted((a, b) => distance(b) - distance(a))
    .slice(0, WORST)
    .map((row) => {
      const i = trajectoryOf[row];
      const turn = level === 'trajectory' ? null : (turnOf ? turnOf[row] : row) - turnOffsets[i];
      const token = turnOf ? row - tokenOffsets[turnOf[row]] : null;
      const place = { trajectory: ids[i], group: groups[groupOf[i]], turn, token };
      return { ...place, logged: values[row], recomputed: advantage[row] };
    });
}
