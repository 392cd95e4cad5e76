import { relative } from 'node:path';
import { FAULTS, formatCurve, type FaultId } from '#app/example-trainer';
import type { Comparison } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import type { Cli } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { awaitAnalysis, requestAnalysis, viewAnalysis } from '../client/analysis.js';
import { disputedTurns } from '../client/disputed-turns.js';
import type { Config } from '../config.js';
import { firstKeyFile, readFirstKey } from '../home-files.js';
import { agreementText, disputedText, estimatorsText, signalText } from '../output/comparison-text.js';
import { count, counted, decimal } from '../output/numbers.js';
import { formatFields } from '../output/table.js';
import { auditRun } from '../client/audit.js';
import { auditText } from '../output/audit-text.js';
import { freshRunName } from './fresh-run-name.js';
import { trainLive } from './train-live.js';

/** The closed-form ones that need nothing but what the trainer logs; GAE on turns, where its value estimates are. */
const ESTIMATORS = [
  { id: 'grpo', params: {} },
  { id: 'rloo', params: {} },
  { id: 'reinforce-plus-plus', params: {} },
  { id: 'lite-ppo', params: {} },
  { id: 'discounted-return', params: {} },
  { id: 'gae', params: { granularity: 'turn' } },
  { id: 'gigpo', params: {} },
  { id: 'hgpo', params: {} },
];
const SHOWN_DISPUTES = 3;

export interface DemoParts {
  readonly cli: Cli;
  readonly api: ApiClient;
  readonly config: Config;
  readonly staysUp: boolean;
  /** a mistake in the trainer's advantages, which is then audited; null: none */
  readonly plant: FaultId | null;
}

/** The whole way once: train, store, analyse, compare, told as it goes. */
export async function playDemo(parts: DemoParts): Promise<void> {
  const { cli, api, config, plant } = parts;
  const name = await freshRunName(api);
  const trained = await timed(() => trainLive({ name, api, config, plant, bar: cli.progress('training') }));
  const { steps, trajectories, turns, events, successRates } = trained.value;
  cli.say(
    `training   run ${name}: ${counted(steps, 'training step')} in ${trained.seconds} s; ${counted(trajectories, 'trajectory', 'trajectories')}, ` +
      `${counted(turns, 'turn')} streamed as they happened, ${counted(events, 'event')} in the log`,
  );
  cli.say(`\n${formatCurve(successRates)}\n`);
  if (plant) cli.say(await auditOf(cli, api, name, plant));

  const analysed = await timed(() => analyse(cli, api, name));
  const { id, shards, comparison } = analysed.value;
  cli.say(
    `analysis   ${counted(ESTIMATORS.length, 'estimator')} over ${counted(shards, 'training step')} in ${analysed.seconds} s, ` +
      `from what is stored; ${signalText(comparison)}`,
  );
  cli.say(`\n${estimatorsText(comparison)}\n`);
  cli.say(reading(comparison));
  cli.say(`\nHow they agree with each other\n\n${agreementText(comparison)}`);
  cli.say(`\nThree turns they dispute most\n\n${await disputes(api, id)}\n`);
  cli.say(await whereItIs(parts, name, id));
}

/** What an audit says of a trainer that has a fault in it and claims GRPO. */
async function auditOf(cli: Cli, api: ApiClient, run: string, plant: FaultId): Promise<string> {
  const bar = cli.progress('auditing');
  bar.update({ done: 0, total: 0 });
  const audit = await auditRun(api, run, { estimator: 'grpo' }).finally(() => bar.end());
  return `planted    ${plant}: ${FAULTS[plant].says}; the trainer claims grpo\n\n${auditText(audit)}\n`;
}

async function analyse(cli: Cli, api: ApiClient, run: string) {
  const id = await requestAnalysis(api, { run, estimators: ESTIMATORS });
  await awaitAnalysis(api, id, cli.progress('analysing'));
  const { state, failure, progress, comparison } = await viewAnalysis(api, id);
  if (state === 'COMPLETED' && comparison) return { id, shards: progress.done, comparison: comparison.detail };
  throw new RecreditError(
    'internal.error',
    `the analysis has ${state.toLowerCase()}: ${failure ?? 'no shard was done'}`,
  );
}

/** What the table's columns mean, where it stands. */
function reading({ truths }: Comparison): string {
  const turns = Math.max(0, ...truths.map(({ n }) => n));
  return [
    `The truth is the exact advantage of each of ${count(turns)} turns, which this small world lets us compute. "within`,
    'trajectories" is the share of the credit that tells turns of one rollout apart: 0 % is pure outcome credit. "pairs in',
    'order": of two turns of one rollout, how often the better one has more credit; 50 % is chance.',
  ].join('\n');
}

async function disputes(api: ApiClient, analysis: string): Promise<string> {
  const shown = await disputedTurns(api, analysis, SHOWN_DISPUTES);
  return shown
    .map((turn) => [disputedText(turn), ...truthText(turn.recorded?.signals.exactAdvantage)].join('\n'))
    .join('\n');
}

function truthText(exact: unknown): string[] {
  if (typeof exact !== 'number') return [];
  const judgement = Math.abs(exact) < 5e-4 ? 'of no consequence' : exact > 0 ? 'a good move' : 'a bad move';
  return [`    was  ${judgement}: exact advantage ${decimal(exact, 3)}`];
}

async function whereItIs({ api, config, cli, staysUp }: DemoParts, run: string, analysis: string): Promise<string> {
  const key = (await readFirstKey(config.home))
    ? `the key in ${shortest(cli.workingDirectory, firstKeyFile(config.home))}`
    : 'a key of this database';
  const recredit = (command: string) => `npm run -s recredit -- ${command}${staysUp ? '' : ' --embedded'}`;
  const at = staysUp ? api.url : '`npm start`, then http://127.0.0.1:4000';
  const places = formatFields([
    ['dashboard', `${at}/analyses/${analysis}`],
    ['', `sign in with ${key}`],
    ['GraphQL', `${at}/graphql`],
    ['the run', recredit(`run ${run}`)],
    ['the numbers', recredit(`compare ${analysis}`)],
    ['as Arrow', recredit(`export ${analysis} --to export`)],
  ]);
  return staysUp ? `${places}\n\nThe platform stays up; Ctrl-C stops it.` : places;
}

function shortest(from: string, path: string): string {
  const seen = relative(from, path);
  return seen.startsWith('..') ? path : seen;
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ value: Value; seconds: string }> {
  const startedAt = performance.now();
  const value = await work();
  return { value, seconds: ((performance.now() - startedAt) / 1000).toFixed(1) };
}
