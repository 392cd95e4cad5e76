import { checkBatch } from '#lib/protocol';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { madeRecords, ndjsonOf } from './made-records.js';
import { rate } from './rate.js';
import { turnEvents } from './turn-events.js';

/** What ingest does to each batch before it is sealed. */
export const protocol: Benchmark = {
  name: 'protocol',
  async run() {
    const batch = ndjsonOf(turnEvents(madeRecords(128)));
    const count = batch.toString().trimEnd().split('\n').length;
    const parse = () =>
      batch
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    return rowsAgainst(
      'events/s',
      ['JSON.parse of each line', await rate(count, parse)],
      [[`check a batch of ${count} turns`, await rate(count, () => checkBatch(batch))]],
    );
  },
};
