import { LOGPROBS } from '#lib/diagnostics';
import { signalsOf } from '#lib/projection';
import type { Queryable } from '#lib/storage';

/** With so many sampled trajectories expected of a shard, or more, it is likely that there is one. */
const LIKELY = 0.5;

/**
 * Says of a shard of a run whether its tokens may stay in their files: the run has some, and the comparison, which looks at
 * the log-probabilities of its sample, will hardly ask for any.
 *
 * @returns told how many trajectories of a shard the sample is expected to have
 */
export async function leavesTokens(db: Queryable, runId: string): Promise<(sampled: number) => boolean> {
  const signals = await signalsOf(db, runId);
  const logged = new Set(signals.flatMap(({ level, name }) => (level === 'token' ? [`token.${name}`] : [])));
  const hasLogprobs = LOGPROBS.some((path) => logged.has(path));
  return (sampled) => logged.size > 0 && (!hasLogprobs || sampled < LIKELY);
}
