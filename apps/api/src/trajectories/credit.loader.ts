import type { Confined } from '#lib/access';
import { shardCredits, type ShardCredit } from '#lib/analysis';
import { creditOfTurn, type CreditFile } from '#lib/columnar';
import type { SegmentStore } from '#lib/storage';
import DataLoader from 'dataloader';
import { queryable } from '../graphql/queryable.js';
import type { TurnCredit } from './trajectory.object.js';

/** A turn whose credit is wanted. */
export interface TurnAddress {
  readonly analysis: string;
  readonly run: string;
  readonly trainingStep: number;
  readonly trajectory: string;
  readonly index: number;
}

/** Loads credit shard by shard: one statement and one read of its files, however many turns of it are asked for. */
export function creditLoader(db: Confined, store: SegmentStore) {
  const shards = new DataLoader<Omit<TurnAddress, 'trajectory' | 'index'>, ShardCredit[], string>(
    (addresses) =>
      Promise.all(
        addresses.map(({ analysis, run, trainingStep }) =>
          shardCredits(queryable(db), store, { analysisId: analysis, runId: run, trainingStep }),
        ),
      ),
    { cacheKeyFn: ({ analysis, run, trainingStep }) => `${analysis}/${run}/${trainingStep}` },
  );
  return {
    load: async (turn: TurnAddress): Promise<TurnCredit[]> => {
      const credits = await shards.load(turn);
      return credits.map(({ label, file }) => ({ estimator: label, ...said(file, turn) }));
    },
  };
}

function said(file: CreditFile | null, { trajectory, index }: TurnAddress): Pick<TurnCredit, 'credit' | 'explain'> {
  return file ? creditOfTurn(file, trajectory, index) : { credit: null, explain: {} };
}
