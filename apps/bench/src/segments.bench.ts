import { encodeSegment, openSegment } from '#lib/columnar';
import { trajectoryBatch } from '#lib/dataset';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, ndjsonOf, TURNS } from './made-records.js';
import { rate } from './rate.js';

const TRAJECTORIES = 2_048;

/** A segment of 32,768 turns with two tokens each. */
export const segments: Benchmark = {
  name: 'segments',
  async run() {
    const records = madeRecords(TRAJECTORIES);
    const lines = ndjsonOf(records).toString().trimEnd().split('\n');
    const trajectories = trajectoryBatch(records);
    const ends = Float64Array.from(records, (_, i) => i);
    const { numeric, text } = encodeSegment(trajectories, ends);
    const turns = TRAJECTORIES * TURNS;
    const parse = () => lines.map((line) => JSON.parse(line) as unknown);
    return rowsAgainst(
      'turns/s',
      ['JSON.parse of the same trajectories', await rate(turns, parse)],
      [
        ['put records into columns', await rate(turns, () => trajectoryBatch(records))],
        ['encode a segment', await rate(turns, () => encodeSegment(trajectories, ends))],
        ['open it and sum the rewards', await rate(turns, () => sumOfRewards(numeric))],
        ['open it with its texts', await rate(turns, () => openSegment(numeric, text))],
      ],
    );
  },
};

function sumOfRewards(numeric: Uint8Array): number {
  const column = openSegment(numeric).trajectories.columns.get('turn.reward');
  let total = 0;
  if (column?.kind === 'number') for (let i = 0; i < column.values.length; i++) total += column.values[i];
  return total;
}
