import { findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { numbers, type NumericValues, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { composeOffsets, repeatRows } from '#lib/numeric';
import { isAnySaid } from './said.js';

/** The advantage of every token. */
export interface TokenCredit {
  /** [tokens] NaN: none */
  readonly values: NumericValues;
  /** false: nobody logged one, so it is GRPO's, of the outcomes */
  readonly isLogged: boolean;
}

/** What `tokenCredit` looks at, for a diagnostic's `accepts`. */
export const CREDIT_SIGNALS: readonly SignalPath[] = [
  'token.loggedAdvantage',
  'turn.loggedAdvantage',
  'trajectory.loggedAdvantage',
  'trajectory.outcomeReward',
];

/**
 * The advantage that the trainer used, of tokens, else of turns, else of trajectories; where none was logged that of
 * GRPO; null where there are no outcomes either.
 */
export function tokenCredit(trajectories: TrajectoryBatch): TokenCredit | null {
  const { turnOffsets, tokenOffsets } = trajectories;
  const ofTokens = said(trajectories, 'token.loggedAdvantage');
  if (ofTokens) return { values: ofTokens, isLogged: true };
  const ofTurns = said(trajectories, 'turn.loggedAdvantage');
  if (ofTurns) return { values: repeatRows(ofTurns, tokenOffsets), isLogged: true };
  const ofTrajectories = said(trajectories, 'trajectory.loggedAdvantage');
  if (ofTrajectories) {
    return { values: repeatRows(ofTrajectories, composeOffsets(turnOffsets, tokenOffsets)), isLogged: true };
  }
  const outcome = runEstimator(findEstimator('grpo'), trajectories);
  if (outcome.kind !== 'credit') return null;
  return { values: repeatRows(turnCredit(trajectories, outcome.credit), tokenOffsets), isLogged: false };
}

/** What a sentence adds where the advantage was not logged. */
export function creditNote(creditIsLogged: number | null | undefined): string {
  return creditIsLogged === 1 ? '' : " (by GRPO's advantage where none was logged)";
}

function said(trajectories: TrajectoryBatch, path: SignalPath): NumericValues | null {
  const values = numbers(trajectories, path);
  return values && isAnySaid(values) ? values : null;
}
