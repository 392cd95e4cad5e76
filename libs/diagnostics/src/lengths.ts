import { numbers, type TrajectoryBatch } from '#lib/dataset';

/** [turns] tokens that the policy generated: `turn.tokenCount`, else those recorded with mask 1; NaN: neither is said */
export function tokensOfTurns(trajectories: TrajectoryBatch): Float64Array {
  const { tokenOffsets, stateKey } = trajectories;
  const said = numbers(trajectories, 'turn.tokenCount');
  const mask = numbers(trajectories, 'token.mask');
  return Float64Array.from(stateKey, (_, turn) => {
    if (said && !Number.isNaN(said[turn])) return said[turn];
    const [from, to] = [tokenOffsets[turn], tokenOffsets[turn + 1]];
    if (from === to) return NaN;
    if (!mask) return to - from;
    let generated = 0;
    for (let token = from; token < to; token++) if (mask[token] !== 0) generated++;
    return generated;
  });
}

/** [trajectories] the same of whole trajectories: `trajectory.tokenCount`, else the sum of its turns; NaN: one turn says nothing */
export function tokensOfTrajectories(trajectories: TrajectoryBatch): Float64Array {
  const { ids, turnOffsets } = trajectories;
  const said = numbers(trajectories, 'trajectory.tokenCount');
  const perTurn = tokensOfTurns(trajectories);
  return Float64Array.from(ids, (_, i) => {
    if (said && !Number.isNaN(said[i])) return said[i];
    const [from, to] = [turnOffsets[i], turnOffsets[i + 1]];
    if (from === to) return NaN;
    let sum = 0;
    for (let turn = from; turn < to; turn++) sum += perTurn[turn];
    return sum;
  });
}
