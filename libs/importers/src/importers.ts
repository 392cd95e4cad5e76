import { RecreditError } from '#lib/kernel';
import { agentProcessBench } from './agent-process-bench.importer.js';
import { atropos } from './atropos.importer.js';
import type { Importer } from './importer.js';
import { intercode } from './intercode.importer.js';
import { mint } from './mint.importer.js';
import { nemoGym } from './nemo-gym.importer.js';
import { nemoRl } from './nemo-rl.importer.js';
import { recredit } from './recredit.importer.js';
import { tauBench } from './tau-bench.importer.js';

/** The catalogue of formats. */
export const IMPORTERS: readonly Importer[] = [
  recredit,
  tauBench,
  agentProcessBench,
  intercode,
  mint,
  nemoGym,
  nemoRl,
  atropos,
];

export function importerOf(format: string): Importer {
  const importer = IMPORTERS.find(({ id }) => id === format);
  if (importer) return importer;
  const known = IMPORTERS.map(({ id }) => id).join(', ');
  throw new RecreditError('format.unknown', `no format is called ${format}; there are ${known}`, { known });
}
