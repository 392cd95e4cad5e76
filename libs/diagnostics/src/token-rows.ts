import { numbers, type TrajectoryBatch } from '#lib/dataset';

/** Mean of a token signal over the tokens that the policy generated and that say it; NaN where none does. */
export function meanOfTokens(trajectories: TrajectoryBatch, name: string): number {
  const values = numbers(trajectories, `token.${name}`);
  const mask = numbers(trajectories, 'token.mask');
  if (!values) return NaN;
  let sum = 0;
  let count = 0;
  for (let token = 0; token < values.length; token++) {
    if (mask?.[token] === 0 || Number.isNaN(values[token])) continue;
    sum += values[token];
    count++;
  }
  return sum / count;
}
