import type { TrajectoryRecord, Turn } from '#lib/protocol';

/** A trajectory of a group that ended well or not. */
export const rollout = (
  id: string,
  group: string,
  outcome: number,
  turns: readonly Turn[] = [{}],
  signals: TrajectoryRecord['signals'] = {},
): TrajectoryRecord => ({
  id,
  group,
  trainingStep: 0,
  outcomeReward: outcome,
  success: outcome > 0,
  signals,
  turns: [...turns],
});

const acts = (...pairs: readonly string[]): Turn[] =>
  pairs.map((pair) => {
    const [state, action] = pair.split('/');
    return { state, action };
  });

/** The example of the method file: g0 = A and C succeed, B and E fail; g1 = F and G fail. */
export const TOY = [
  rollout('A', 'g0', 1, acts('k/open', 'k2/take', 'd/put')),
  rollout('B', 'g0', 0, acts('k/look', 'k/look', 'k/look', 'k2/take')),
  rollout('C', 'g0', 1, acts('k/open', 'd/put')),
  rollout('E', 'g0', 0, acts('k/open', 'k2/drop')),
  rollout('F', 'g1', 0, acts('x/go')),
  rollout('G', 'g1', 0, acts('x/go', 'y/stop')),
];

/** The same rollouts n times under other names, so that there are enough to alert. */
export const times = (n: number, records: readonly TrajectoryRecord[]) =>
  Array.from({ length: n }, (_, k) =>
    records.map((record) => ({ ...record, id: `${record.id}-${k}`, group: `${record.group}-${k}` })),
  ).flat();
