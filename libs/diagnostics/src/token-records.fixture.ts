import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';

type Tokens = Readonly<Record<string, readonly (number | string | null)[]>>;
type TokenRecord = Omit<Parameters<typeof trajectoryBatch>[0][number], 'trainingStep'>;

/** Trajectories of one turn each, by the columns of its tokens, in one group. */
export function tokenRecords(...trajectories: Tokens[]): TokenRecord[] {
  return trajectories.map((tokens, i) => ({
    id: `t${i}`,
    group: 'g',
    outcomeReward: i % 2,
    turns: [{ tokens: Object.fromEntries(Object.entries(tokens).map(([name, column]) => [name, [...column]])) }],
  })) as TokenRecord[];
}

/** The same as a batch of training step 0, its numbers as written. */
export function tokenBatch(...trajectories: Tokens[]): TrajectoryBatch {
  const records = tokenRecords(...trajectories).map((record) => ({ ...record, trainingStep: 0 }) as never);
  return trajectoryBatch(records, { exactTokens: true });
}
