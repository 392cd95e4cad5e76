import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { awaitAnalysis, requestAnalysis, viewAnalysis, type AnalysisView } from '../client/analysis.js';
import {
  choosingStates,
  chosenStates,
  jsonObject,
  nameList,
  online,
  paramsOfEach,
  stepRange,
  wholeNumber,
  type StateOptions,
  type StepRange,
} from '../options.js';
import { estimatorsText, scopeText, signalText } from '../output/comparison-text.js';
import { count, counted } from '../output/numbers.js';
import { withApi } from '../session.js';

interface AnalyzeOptions extends CommonOptions, StateOptions {
  readonly run: string;
  readonly estimators: string[];
  readonly params?: Record<string, unknown>;
  readonly steps?: StepRange;
  readonly asOf?: number;
  readonly wait?: boolean;
}

export function analyzeCommand(cli: Cli): Command {
  return choosingStates(online(new Command('analyze')))
    .description('assign credit to a run again, by any estimators, in the background')
    .requiredOption('--run <name>', 'name or id of the run')
    .requiredOption('--estimators <a,b>', 'ids, separated by commas; `recredit estimators` lists them', nameList)
    .option('--params <json>', `for all of them, or by estimator: '{"gae": {"granularity": "turn"}}'`, jsonObject)
    .option('--steps <A..B>', 'only these training steps, both ends included', stepRange)
    .option('--as-of <position>', 'as the run was before this position (default: as it is now)', wholeNumber)
    .option('--wait', 'until it has ended (always, with --embedded)')
    .action(
      cli.answering(async (options: AnalyzeOptions) => {
        const { run, estimators: ids, params = {}, steps, asOf } = options;
        // the platform knows which there are: it may have users' own
        const estimators = paramsOfEach(ids, params);
        const analysis = await withApi(cli, options, async (api) => {
          const id = await requestAnalysis(api, { run, asOf, estimators, steps, stateIdentity: chosenStates(options) });
          // an embedded platform does not outlive the command, so there is nobody else to finish the work
          if (options.wait || options.embedded) await awaitAnalysis(api, id, cli.progress('analysing', options));
          return viewAnalysis(api, id);
        });
        const failed = analysis.state === 'FAILED' || analysis.state === 'CANCELLED';
        return { json: analysisJson(analysis), text: analysisText(analysis), exitCode: failed ? 1 : 0 };
      }),
    );
}

export function analysisJson(analysis: AnalysisView) {
  const { id, state, failure, runs, stateIdentity, progress, estimators, comparison } = analysis;
  const { total, done, failed, cached } = progress;
  return {
    analysis: id,
    state: state.toLowerCase(),
    failure,
    runs,
    stateIdentity,
    shards: { total, done, failed, cached },
    estimators,
    groups: comparison?.detail.groups ?? null,
    groupsWithSignal: comparison?.detail.groupsWithSignal ?? null,
  };
}

function analysisText(analysis: AnalysisView): string {
  const { id, state, failure, progress, comparison } = analysis;
  const { total, done, failed, cached } = progress;
  const known = cached > 0 ? `, ${count(cached)} of them known before` : '';
  const shards = total > 0 ? `; ${count(done)} of ${counted(total, 'shard')} done${known}` : '';
  const lines = [`analysis ${id}: ${state.toLowerCase()}${failure ? ` (${failure})` : ''}${shards}`];
  if (failed > 0) {
    lines.push(`${counted(failed, 'shard')} failed:`);
    for (const { node } of analysis.failedShards.edges)
      lines.push(`  training step ${node.trainingStep}: ${node.reason}`);
  }
  lines.push(...statesNote(analysis), ...estimatorNotes(analysis));
  if (comparison) {
    const { detail } = comparison;
    lines.push(`${scopeText(detail)}; ${signalText(detail)}`, '', estimatorsText(detail), '');
    lines.push(`more of it: recredit compare ${id}`);
  } else if (state === 'PLANNING' || state === 'RUNNING') {
    lines.push(`when it has ended: recredit compare ${id}`);
  }
  return lines.join('\n');
}

/** Which states counted as the same, where it is not as they were recorded. */
export function statesNote({ stateIdentity: { by, threshold, excludeGeneric } }: AnalysisView): string[] {
  if (by === 'LAST_OBSERVATION' && !excludeGeneric) return [];
  const kind = by.toLowerCase().replaceAll('_', ' ') + (threshold === null ? '' : ` from ${threshold}`);
  return [`states are the same by ${kind}${excludeGeneric ? '; generic ones are the same as no other' : ''}`];
}

/** What estimators lacked, and what they warn of. */
export function estimatorNotes({ estimators }: AnalysisView): string[] {
  return estimators.flatMap(({ label, inputsMissing, warnings, failures }) => [
    ...failures.map(({ reason, shards }) => `${label} failed in ${counted(shards, 'shard')}: ${reason}`),
    ...inputsMissing.map(({ path, rows, of, recordedAs }) => {
      const lacks =
        of === 0 ? `no row carries ${path}` : `where ${path} is missing: on ${count(rows)} of ${counted(of, 'row')}`;
      const instead = recordedAs === null ? '' : `; the run carries ${recordedAs}: was that meant?`;
      return `${label} says nothing${of === 0 ? ':' : ''} ${lacks}${instead}`;
    }),
    ...warnings.map((warning) => `${label}: ${warning}`),
  ]);
}
