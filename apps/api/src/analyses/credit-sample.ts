import { creditPlaces, openCredits, type ShardAddress } from '#lib/analysis';
import { creditPerTurn, type CreditFile } from '#lib/columnar';
import { ownerOf, seededRandom } from '#lib/numeric';
import { FileMemory, type Queryable, type SegmentStore } from '#lib/storage';
import type { CreditSample } from './credit-sample.object.js';

/** What a sample reads: enough to see a run from its first training step to its last, few enough to be there at once. */
const MAX_SHARDS = 12;

/** Of the files that are read, for the next shard. */
const memory = new FileMemory(16 * 2 ** 20);

/** Which two estimators, by label, and how many turns at most. */
export interface SampleWish {
  readonly x: string;
  readonly y: string;
  readonly points: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly run: string;
  readonly trainingStep: number;
  readonly trajectory: string;
  readonly turn: number;
}

/**
 * Turns of which two estimators of an analysis speak: all of them where they are few, else as many from each of some
 * training steps, drawn by a fixed seed. One shard after the other is in memory.
 */
export async function creditSample(
  db: Queryable,
  store: SegmentStore,
  analysisId: string,
  { x, y, points: limit }: SampleWish,
): Promise<CreditSample> {
  const { shards, ofShards } = await spreadShards(db, analysisId);
  const places = await creditPlaces(db, shards);
  const quota = Math.ceil(limit / Math.max(1, shards.length));
  const points: Point[] = [];
  let ofTurns = 0;
  for (const [i, { runId: run, trainingStep }] of shards.entries()) {
    const { allocate, giveBack } = memory.lend();
    const wanted = places[i].filter(({ label }) => label === x || label === y);
    const credits = await openCredits(store, wanted, allocate); // where one fails, others may still be written to
    const files = new Map(credits.map(({ label, file }) => [label, file]));
    const [ofX, ofY] = [files.get(x), files.get(y)];
    if (ofX && ofY) {
      const said: Said = { x: creditPerTurn(ofX), y: creditPerTurn(ofY) };
      const rows = rowsOfBoth(said);
      ofTurns += rows.length;
      const kept = drawn(rows, quota, `${run} ${trainingStep}`);
      points.push(...pointsOf(kept, said, ofX).map((turn) => ({ ...turn, run, trainingStep })));
    }
    giveBack();
  }
  const column = <Name extends keyof Point>(name: Name) => points.map((point) => point[name]);
  return {
    sampled: points.length < ofTurns || shards.length < ofShards,
    ofTurns,
    shards: shards.length,
    ofShards,
    x: column('x'),
    y: column('y'),
    run: column('run'),
    trainingStep: column('trainingStep'),
    trajectory: column('trajectory'),
    turn: column('turn'),
  };
}

/** Shards that are done, evenly spread over all of them. */
async function spreadShards(db: Queryable, analysisId: string) {
  const { rows }: { rows: (ShardAddress & { of: number })[] } = await db.query(
    `select $1 as "analysisId", run_id as "runId", training_step as "trainingStep", of::int from (
       select run_id, training_step, row_number() over (order by run_id, training_step) - 1 as nth, count(*) over () as of
       from analysis_shard where analysis_id = $1 and state = 'done'
     ) as done
     where nth * least($2::bigint, of) % of < least($2::bigint, of)
     order by nth`,
    [analysisId, MAX_SHARDS],
  );
  return { shards: rows, ofShards: rows[0]?.of ?? 0 };
}

/** [turns] of a shard, by two estimators */
interface Said {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/** Of turns on which neither is silent. */
function rowsOfBoth({ x, y }: Said): number[] {
  const rows: number[] = [];
  for (let row = 0; row < x.length; row++) {
    if (Number.isFinite(x[row]) && Number.isFinite(y[row])) rows.push(row);
  }
  return rows;
}

/** Only of rows that are kept: a shard has a hundred times as many. @param file either of the two, their rows are the same */
function pointsOf(rows: readonly number[], { x, y }: Said, { turnOffsets, trajectories }: CreditFile) {
  const owner = ownerOf(turnOffsets);
  return rows.map((row) => ({
    x: x[row],
    y: y[row],
    trajectory: trajectories[owner[row]],
    turn: row - turnOffsets[owner[row]],
  }));
}

/** Each of the items is as likely to be among the `limit` that are kept; their order stays (Knuth's algorithm S). */
export function drawn<Item>(items: readonly Item[], limit: number, seed: string): readonly Item[] {
  if (items.length <= limit) return items;
  const random = seededRandom(seed);
  const kept: Item[] = [];
  items.forEach((item, i) => {
    if (random.next() * (items.length - i) < limit - kept.length) kept.push(item);
  });
  return kept;
}
