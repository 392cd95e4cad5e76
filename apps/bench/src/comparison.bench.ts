import { findEstimator, runEstimator, turnCredit } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { comparisonOf, decodeSummary, encodeSummary, mergeSummaries, summarizeShard } from '#lib/diagnostics';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, TURNS } from './made-records.js';
import { rate } from './rate.js';

const TRAJECTORIES = 4_096;
const SHARDS = 8;
const COMPARED = ['grpo', 'rloo', 'reinforce-plus-plus', 'lite-ppo', 'discounted-return', 'gae', 'gigpo', 'hgpo'];

/**
 * What a comparison costs beside the estimators: 8 of them, 28 pairs, one truth, over 65,536 turns of which rank
 * statistics keep an eighth.
 */
export const comparison: Benchmark = {
  name: 'comparison',
  async run() {
    const trajectories = trajectoryBatch(madeRecords(TRAJECTORIES));
    const credits = new Map<string, Float64Array>();
    for (const id of COMPARED) {
      const outcome = runEstimator(findEstimator(id), trajectories);
      if (outcome.kind === 'credit') credits.set(id, turnCredit(trajectories, outcome.credit));
    }
    const exact = Float64Array.from(numbers(trajectories, 'turn.exactAdvantage') ?? []);
    const truths = new Map([['exactAdvantage', exact]]);
    const summarize = (run: string) =>
      summarizeShard({ run, trajectories, credits, truths, sampleRate: 1 / SHARDS, topK: 64 });
    const shards = Array.from({ length: SHARDS }, (_, i) => encodeSummary(summarize(`run-${i}`)));
    const turns = TRAJECTORIES * TURNS;
    const conclude = () => comparisonOf(mergeSummaries(...shards.map(decodeSummary)));
    const columns = [...credits.values(), exact];
    return rowsAgainst(
      'turns/s',
      [`summing the ${columns.length} columns`, await rate(turns, () => columns.map(sum))],
      [
        [`summarise a shard of ${turns} turns`, await rate(turns, () => summarize('run'))],
        [`merge ${SHARDS} summaries and conclude`, await rate(turns * SHARDS, conclude)],
      ],
    );
  },
};

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
