import type { Confined } from '#lib/access';
import { creditPlaces, FileMemory, openCredits, type ShardAddress } from '#lib/analysis';
import { creditOfTurn, NO_CREDIT, type CreditFile, type CreditOfTurn } from '#lib/columnar';
import type { SegmentStore } from '#lib/storage';
import DataLoader from 'dataloader';
import { queryable } from '../graphql/queryable.js';
import type { TurnCredit } from './trajectory.object.js';

/** A turn whose credit is wanted. */
export interface TurnAddress extends ShardAddress {
  readonly trajectory: string;
  readonly index: number;
}

/** Of the files that are read, for the next request: each page of turns reads some megabytes, and keeps none of them. */
const memory = new FileMemory(32 * 2 ** 20);

/**
 * Loads the credit of turns: one statement, and one read of each shard's files, however many turns of it are asked for.
 * One shard after the other, since the files of all of them might not fit into memory.
 */
export function creditLoader(db: Confined, store: SegmentStore) {
  return new DataLoader<TurnAddress, TurnCredit[], string>(
    async (turns) => {
      const shards = [...Map.groupBy(turns, shardWord).values()];
      const places = await creditPlaces(
        queryable(db),
        shards.map(([first]) => first),
      );
      const credits = new Map<TurnAddress, TurnCredit[]>();
      for (const [i, turnsOfShard] of shards.entries()) {
        const { allocate, giveBack } = memory.lend();
        const files = await openCredits(store, places[i], allocate); // where one fails, others may still be written to
        for (const turn of turnsOfShard) {
          credits.set(
            turn,
            files.map(({ label, file }) => ({ estimator: label, ...said(file, turn) })),
          );
        }
        giveBack();
      }
      return turns.map((turn) => credits.get(turn)!);
    },
    { cacheKeyFn: (turn) => `${shardWord(turn)}\0${turn.trajectory}\0${turn.index}` },
  );
}

/** No id that Postgres holds has a NUL in it. */
const shardWord = ({ analysisId, runId, trainingStep }: ShardAddress) => `${analysisId}\0${runId}\0${trainingStep}`;

function said(file: CreditFile | null, { trajectory, index }: TurnAddress): CreditOfTurn {
  return file ? creditOfTurn(file, trajectory, index) : NO_CREDIT;
}
