import type { SignalPath, TrajectoryBatch } from '#lib/dataset';
import type { SaidTag } from '#lib/projection';

/** The trajectories with these tags in place of their own texts, which are loaded or not. */
export function withTags(trajectories: TrajectoryBatch, tags: readonly SaidTag[]): TrajectoryBatch {
  const { ids, columns } = trajectories;
  const row = new Map(tags.length > 0 ? ids.map((id, i) => [id, i]) : []);
  const said = new Map<SignalPath, (string | null)[]>();
  for (const { trajectory, name, value } of tags) {
    const values = said.get(`trajectory.${name}`) ?? ids.map(() => null);
    said.set(`trajectory.${name}`, values);
    const at = row.get(trajectory);
    if (at !== undefined) values[at] = value;
  }
  const others = [...columns].filter(([path, { kind }]) => kind === 'number' || !path.startsWith('trajectory.'));
  const texts = [...said].map(([path, values]) => [path, { kind: 'text', values }] as const);
  return { ...trajectories, columns: new Map([...others, ...texts]) };
}
