import { numbers, type NumericValues, type TrajectoryBatch } from '#lib/dataset';
import { oncePerBatch } from './once-per-batch.js';

/** [turns] tokens that the policy generated: `turn.tokenCount`, else those recorded with mask 1; NaN: neither is said */
export const tokensOfTurns = oncePerBatch((trajectories: TrajectoryBatch): Float64Array => {
  const { tokenOffsets, stateKey } = trajectories;
  const said = numbers(trajectories, 'turn.tokenCount');
  const mask = numbers(trajectories, 'token.mask');
  const tokens = new Float64Array(stateKey.length);
  for (let turn = 0; turn < tokens.length; turn++) {
    if (said && !Number.isNaN(said[turn])) tokens[turn] = said[turn];
    else tokens[turn] = recordedTokens(mask, tokenOffsets[turn], tokenOffsets[turn + 1]);
  }
  return tokens;
});

function recordedTokens(mask: NumericValues | null, from: number, to: number): number {
  if (from === to) return NaN;
  if (!mask) return to - from;
  let generated = 0;
  for (let token = from; token < to; token++) if (mask[token] !== 0) generated++;
  return generated;
}

/** [trajectories] the same of whole trajectories: `trajectory.tokenCount`, else the sum of its turns; NaN: one turn says nothing */
export const tokensOfTrajectories = oncePerBatch((trajectories: TrajectoryBatch): Float64Array => {
  const { ids, turnOffsets } = trajectories;
  const said = numbers(trajectories, 'trajectory.tokenCount');
  const perTurn = tokensOfTurns(trajectories);
  const tokens = new Float64Array(ids.length);
  for (let i = 0; i < tokens.length; i++) {
    if (said && !Number.isNaN(said[i])) {
      tokens[i] = said[i];
      continue;
    }
    const [from, to] = [turnOffsets[i], turnOffsets[i + 1]];
    if (from === to) tokens[i] = NaN;
    for (let turn = from; turn < to; turn++) tokens[i] += perTurn[turn];
  }
  return tokens;
});
