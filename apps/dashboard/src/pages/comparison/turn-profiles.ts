import type { TurnProfile } from '../../charts/credit-by-turn.js';

interface Profile {
  readonly id: string;
  readonly std: number | null;
  /** as in docs/comparison.md */
  readonly detail: unknown;
}

interface Detail {
  readonly meanByTurn?: readonly (number | null)[];
  readonly countByTurn?: readonly number[];
}

/** Mean credit by turn index in spreads of each estimator, so that those of different scales can be laid over each other. */
export function turnProfiles(estimators: readonly Profile[]): { profiles: TurnProfile[]; turns: Float64Array } {
  const length = Math.max(0, ...estimators.map(({ detail }) => detailOf(detail).countByTurn?.length ?? 0));
  const turns = new Float64Array(length);
  const profiles = estimators.flatMap(({ id, std, detail }): TurnProfile[] => {
    const { meanByTurn = [], countByTurn = [] } = detailOf(detail);
    countByTurn.forEach((count, i) => (turns[i] = Math.max(turns[i], count)));
    if (!std) return [];
    const mean = new Float64Array(length).fill(Number.NaN);
    meanByTurn.forEach((value, i) => {
      if (value !== null) mean[i] = value / std;
    });
    return [{ estimator: id, mean }];
  });
  return { profiles, turns };
}

const detailOf = (detail: unknown) => (detail ?? {}) as Detail;
