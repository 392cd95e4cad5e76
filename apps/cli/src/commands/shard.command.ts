import { basename, dirname } from 'node:path';
import { Learner } from '#lib/credit-learned';
import { estimationWith, OwnThread, readOwnEstimators } from '#lib/own-estimators';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { computeShards } from '../offline/compute-shards.js';
import { pathOf, segmentsAt } from '../offline/segment-files.js';
import {
  answers,
  choosingStates,
  chosenStates,
  jsonObject,
  nameList,
  paramsOfEach,
  stepRange,
  type StateOptions,
  type StepRange,
} from '../options.js';
import { estimatorsText, scopeText, signalText } from '../output/comparison-text.js';
import { count, counted } from '../output/numbers.js';

interface ShardOptions extends CommonOptions, StateOptions {
  readonly input: string;
  readonly output: string;
  readonly estimators: string[];
  readonly params?: Record<string, unknown>;
  readonly steps?: StepRange;
  readonly run?: string;
}

export function shardCommand(cli: Cli): Command {
  return choosingStates(answers(new Command('shard')))
    .description(
      'compute credit from segment files to files (no platform needed): what Ray, Slurm or Kubernetes schedule',
    )
    .requiredOption('--input <uri>', 'folder segments/<run> of a segment store, or one .arrow file of it')
    .requiredOption('--estimators <a,b>', 'ids, separated by commas', nameList)
    .requiredOption('--output <uri>', 'folder for credit, summaries and the comparison')
    .option('--params <json>', 'for all of them, or by estimator', jsonObject)
    .option('--steps <A..B>', 'only these training steps, one shard each', stepRange)
    .option('--run <name>', 'what the comparison calls the run (default: its folder)')
    .addHelpText('after', '\nAnnotations and rewinds are in the log and not in segments: they take no part here.')
    .action(
      cli.answering(async (options: ShardOptions) => {
        const { estimators: ids, params = {}, steps } = options;
        const [input, output] = [options.input, options.output].map((uri) => pathOf(uri, cli.workingDirectory));
        const segments = await segmentsAt(input);
        const run = options.run ?? basename(input.endsWith('.arrow') ? dirname(input) : input);
        const { estimators: folder, device } = cli.config;
        const estimation = estimationWith(await readOwnEstimators(folder), new OwnThread(), new Learner(device));
        const bar = cli.progress('computing', options);
        const { shards, comparison } = await computeShards(
          {
            run,
            segments,
            steps,
            output,
            estimators: paramsOfEach(ids, params),
            estimation,
            states: chosenStates(options),
          },
          (done, total) => bar.update({ done, total, detail: `${count(done)} of ${counted(total, 'shard')}` }),
        ).finally(() => bar.end());
        const missing = new Set(
          shards.flatMap(({ missing }) => missing.map(({ estimator, path }) => `${estimator} (${path})`)),
        );
        const failures = new Set(shards.flatMap(({ failed }) => failed.map(({ reason }) => reason)));
        const text = [
          `${counted(shards.length, 'shard')} of ${run} in ${output}`,
          ...(missing.size > 0 ? [`a signal is missing for ${[...missing].join(', ')}`] : []),
          ...[...failures].map((reason) => `failed: ${reason}`),
          `${scopeText(comparison)}; ${signalText(comparison)}`,
          '',
          estimatorsText(comparison),
        ].join('\n');
        return {
          json: { run, output, shards, comparison: 'comparison.json' },
          text,
          exitCode: failures.size > 0 ? 1 : 0,
        };
      }),
    );
}
