import { isUtf8 } from 'node:buffer';
import { checkBatch, countEvents } from '#lib/protocol';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import { ndjson } from './event-log.bench.js';
import { cpuRate } from './rate.js';

const BATCH = 2_000;
/** Until all of it is compiled, on a busy machine too. */
const WARM_UPS = 30;

/** What ingest does to each batch before it is sealed. */
export const protocol: Benchmark = {
  name: 'protocol',
  async run() {
    const batch = ndjson(0, BATCH);
    const parse = () =>
      batch
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    for (let i = 0; i < WARM_UPS; i++) {
      parse();
      countEvents(batch, isUtf8);
      checkBatch(batch);
    }
    return rowsAgainst(
      'events/s',
      ['JSON.parse of each line', await cpuRate(BATCH, parse)],
      [
        [
          `check a batch of ${BATCH} turns, without making events of them`,
          await cpuRate(BATCH, () => countEvents(batch, isUtf8)),
        ],
        ['parse and check it, as what is unusual', await cpuRate(BATCH, () => checkBatch(batch))],
      ],
    );
  },
};
