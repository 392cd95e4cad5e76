import type { Confined } from '#lib/access';
import { creditPlaces, openCredits, type ShardAddress } from '#lib/analysis';
import { creditOfTurn, NO_CREDIT, type CreditFile } from '#lib/columnar';
import { FileMemory, type SegmentStore } from '#lib/storage';
import DataLoader from 'dataloader';
import { queryable } from '../graphql/queryable.js';
import type { TurnCredit } from './trajectory.object.js';

/** Turns of one trajectory whose credit is wanted. */
export interface CreditedTurns extends ShardAddress {
  readonly trajectory: string;
  readonly indexes: readonly number[];
  /** fields of TurnCredit that are looked at */
  readonly columns: ReadonlySet<string>;
}

const ALL_COLUMNS: CreditedTurns['columns'] = new Set(['explain', 'tokenCredit']);

/** Of the files that are read, for the next request: each page of turns reads some megabytes, and keeps none of them. */
const memory = new FileMemory(32 * 2 ** 20);

/**
 * Loads the credit of turns: one statement, and one read of each shard's files, however many turns of it are asked for.
 * One shard after the other, since the files of all of them might not fit into memory.
 */
export function creditLoaders(db: Confined, store: SegmentStore) {
  const creditOfTurns = new DataLoader<CreditedTurns, TurnCredit[][]>(
    async (wanted) => {
      const shards = [...Map.groupBy(wanted, shardWord).values()];
      const places = await creditPlaces(
        queryable(db),
        shards.map(([first]) => first),
      );
      const credits = new Map<CreditedTurns, TurnCredit[][]>();
      for (const [i, wantedOfShard] of shards.entries()) {
        const { allocate, giveBack } = memory.lend();
        const files = await openCredits(store, places[i], allocate); // where one fails, others may still be written to
        for (const turns of wantedOfShard) {
          credits.set(
            turns,
            turns.indexes.map((index) => files.map(({ label, file }) => said(label, file, turns, index))),
          );
        }
        giveBack();
      }
      return wanted.map((turns) => credits.get(turns)!);
    },
    { cache: false },
  );
  const credit = {
    load: async ({ index, ...turn }: ShardAddress & { readonly trajectory: string; readonly index: number }) =>
      (await creditOfTurns.load({ ...turn, indexes: [index], columns: ALL_COLUMNS }))[0],
  };
  return { creditOfTurns, credit };
}

/** No id that Postgres holds has a NUL in it. */
const shardWord = ({ analysisId, runId, trainingStep }: ShardAddress) => `${analysisId}\0${runId}\0${trainingStep}`;

function said(
  estimator: string,
  file: CreditFile | null,
  { trajectory, columns }: CreditedTurns,
  index: number,
): TurnCredit {
  const wanted = { explain: columns.has('explain'), tokens: columns.has('tokenCredit') };
  const { credit, level, tokenCredit, explain } = file ? creditOfTurn(file, trajectory, index, wanted) : NO_CREDIT;
  return { estimator, credit, level, tokenCredit, explain }; // spreading it would take four times the memory
}
