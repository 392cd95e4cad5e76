import type { TrajectoryBatch } from '#lib/dataset';

/**
 * A fact of a batch that is derived once, however many members of the catalogue ask for it: nobody writes to a batch, nor
 * to what is known of it. It is forgotten with the batch.
 */
export function oncePerBatch<Fact extends object>(
  derive: (trajectories: TrajectoryBatch) => Fact,
): (trajectories: TrajectoryBatch) => Fact {
  const known = new WeakMap<TrajectoryBatch, Fact>();
  return (trajectories) => {
    const found = known.get(trajectories);
    if (found) return found;
    const derived = derive(trajectories);
    known.set(trajectories, derived);
    return derived;
  };
}
