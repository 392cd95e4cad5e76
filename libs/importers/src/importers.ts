import { meantInstead, RecreditError } from '#lib/kernel';
import { agentLightning } from './agent-lightning.importer.js';
import { agentProcessBench } from './agent-process-bench.importer.js';
import { atif } from './atif.importer.js';
import { atropos } from './atropos.importer.js';
import type { Importer } from './importer.js';
import { intercode } from './intercode.importer.js';
import { mint } from './mint.importer.js';
import { nemoGym } from './nemo-gym.importer.js';
import { nemoRl } from './nemo-rl.importer.js';
import { openaiChat } from './openai-chat.importer.js';
import { otlp } from './otlp.importer.js';
import { primeRl } from './prime-rl.importer.js';
import { recredit } from './recredit.importer.js';
import { rllm } from './rllm.importer.js';
import { skyrl } from './skyrl.importer.js';
import { slime } from './slime.importer.js';
import { tauBench } from './tau-bench.importer.js';
import { trl } from './trl.importer.js';
import { verifiers } from './verifiers.importer.js';
import { verl } from './verl.importer.js';

/** The catalogue of formats. */
export const IMPORTERS: readonly Importer[] = [
  recredit,
  verl,
  trl,
  verifiers,
  primeRl,
  rllm,
  slime,
  skyrl,
  nemoRl,
  nemoGym,
  atropos,
  agentLightning,
  openaiChat,
  otlp,
  atif,
  tauBench,
  agentProcessBench,
  intercode,
  mint,
];

export function importerOf(format: string): Importer {
  const importer = IMPORTERS.find(({ id }) => id === format);
  if (importer) return importer;
  const known = ['auto', ...IMPORTERS.map(({ id }) => id)];
  throw new RecreditError('format.unknown', `no format is called ${format}${meantInstead(format, known)}`, { known });
}
