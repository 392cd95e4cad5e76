import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { api } from './api.bench.js';
import { withDatabase } from './bench-database.js';
import type { BenchRow } from './bench-row.js';
import { benchTable } from './bench-table.js';
import type { Benchmark, BenchOptions } from './benchmark.js';
import { catchUp } from './catch-up.bench.js';
import { comparison } from './comparison.bench.js';
import { dashboard } from './dashboard.bench.js';
import { diagnostics } from './diagnostics.bench.js';
import { estimators } from './estimators.bench.js';
import { growth } from './growth.bench.js';
import { appendLatency, ingest } from './ingest.bench.js';
import { queries } from './queries.bench.js';
import { recompute } from './recompute.bench.js';
import { benchEventLog } from './event-log.bench.js';
import { projector } from './projector.bench.js';
import { protocol } from './protocol.bench.js';
import { sdk } from './sdk.bench.js';
import { segments } from './segments.bench.js';
import { tensor } from './tensor.bench.js';
import { textSimilarities } from './text-similarity.bench.js';

const eventLog: Benchmark = {
  name: 'event-log',
  run: () => withDatabase((url) => benchEventLog({ ownerUrl: url, appUrl: url })),
};

const BENCHMARKS: readonly Benchmark[] = [
  estimators,
  comparison,
  diagnostics,
  catchUp,
  textSimilarities,
  segments,
  protocol,
  sdk,
  eventLog,
  projector,
  api,
  ingest,
  appendLatency,
  recompute,
  growth,
  queries,
  dashboard,
  tensor,
];

/**
 * `npm run bench [-- NAME ... --turns N --events N --batches N]`: all benchmarks, or those whose name contains one of the
 * given ones, as large as said.
 */
const number = { type: 'string' } as const;
const { positionals: wanted, values: given } = parseArgs({
  allowPositionals: true,
  options: { turns: number, events: number, batches: number },
});
const options: BenchOptions = Object.fromEntries(Object.entries(given).map(([name, said]) => [name, Number(said)]));
const chosen = BENCHMARKS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (chosen.length === 0) {
  process.stderr.write(`no benchmark is named so; there are: ${BENCHMARKS.map(({ name }) => name).join(', ')}\n`);
  process.exit(2);
}

const rows: (BenchRow & { readonly benchmark: string })[] = [];
for (const benchmark of chosen) {
  const { name } = benchmark;
  process.stderr.write(`measuring ${name} ...\n`);
  rows.push(...(await benchmark.run(options)).map((row) => ({ benchmark: name, ...row })));
}
process.stdout.write(`${benchTable(rows)}\n`);

const machine = { node: process.version, cores: availableParallelism(), cpu: cpus()[0]?.model ?? 'unknown' };
await mkdir('bench', { recursive: true });
await writeFile('bench/results.json', `${JSON.stringify({ at: new Date().toISOString(), machine, rows }, null, 2)}\n`);
