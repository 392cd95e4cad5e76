import {
  estimate,
  estimateLater,
  findEstimator,
  missingText,
  type Estimate,
  type NoEstimate,
  type TrajectoryRecords,
} from '#lib/credit';
import { Learner, learns } from '#lib/credit-learned';
import { trajectoryBatch } from '#lib/dataset';
import { catalogueWith, estimationWith, OwnThread, readOwnEstimators } from '#lib/own-estimators';
import { recordedInstead } from '#lib/protocol';
import { Command } from 'commander';
import type { Cli } from '../cli.js';
import { readTrajectories } from '../offline/read-trajectories.js';
import { answers, choosingStates, chosenStates, jsonObject, type StateOptions } from '../options.js';
import { compact, counted, decimal, versionText } from '../output/numbers.js';
import { formatTable, onOneLine } from '../output/table.js';

interface EstimateOptions extends StateOptions {
  readonly estimator: string;
  readonly params?: Record<string, unknown>;
  readonly case?: string;
}

const SHOWN_TURNS = 8;
const SHOWN_TRAJECTORIES = 50;

export function estimateCommand(cli: Cli): Command {
  return choosingStates(answers(new Command('estimate')))
    .description('credit for a file of trajectories (no platform needed)')
    .argument('<file>', 'a JSON array, {"trajectories": [...]}, a vector file, or one trajectory per line; .gz, .zst')
    .requiredOption('--estimator <id>', '`recredit estimators` lists them')
    .option('--params <json>', 'those not named take their default', jsonObject)
    .option('--case <name>', 'which case of a vector file')
    .action(
      cli.answering(async (file: string, options: EstimateOptions) => {
        const own = await readOwnEstimators(cli.config.estimators);
        const estimator = findEstimator(options.estimator, catalogueWith(own));
        const { trajectories, params: fromFile } = await readTrajectories(file, options.case);
        const params = { ...fromFile, ...options.params };
        const states = chosenStates(options);
        const module = own.find(({ hash }) => hash === estimator.hash);
        const needsDevice = learns(estimator) || states?.by === 'embedding';
        const estimation = estimationWith(own, new OwnThread(), new Learner(cli.config.device));
        const result = needsDevice
          ? await estimateLater(estimator, trajectories, params, estimation, states)
          : module
            ? await new OwnThread().estimate(module, trajectories, params, states)
            : estimate(estimator, trajectories, params, states);
        return { json: result, text: estimateText(result, trajectories), exitCode: result.kind === 'missing' ? 1 : 0 };
      }),
    );
}

function estimateText(result: Estimate | NoEstimate, trajectories: TrajectoryRecords): string {
  const params = Object.entries(result.params).map(([name, value]) => `${name} ${String(value)}`);
  const head = [`${result.estimator}, ${versionText(result)}`, ...params].join(', ');
  if (result.kind === 'missing') {
    const recorded = [...trajectoryBatch(trajectories).columns.keys()];
    const instead = result.missing.flatMap(({ path }) => {
      const found = recordedInstead(path, recorded);
      return found === null ? [] : [`${found} is there: was ${path} meant?`];
    });
    return [head, `says nothing: ${missingText(result.missing)}`, ...instead].join('\n');
  }
  const rows = trajectories
    .slice(0, SHOWN_TRAJECTORIES)
    .map(({ id, group, outcomeReward, turns }, i) => [
      id,
      onOneLine(group, 24),
      compact(outcomeReward),
      String(turns.length),
      creditText(result, i),
    ]);
  const title = result.level === 'trajectory' ? 'credit' : `credit of each ${result.level}`;
  const table = formatTable([['trajectory', 'group', 'reward', 'turns', title]], rows, [
    'left',
    'left',
    'right',
    'right',
    'left',
  ]);
  const more = trajectories.length - rows.length;
  const warnings = result.warnings.map((warning) => `warning: ${warning}`);
  return [
    head,
    '',
    table,
    ...(more > 0 ? [`... and ${counted(more, 'trajectory', 'trajectories')} more (--json has all)`] : []),
    ...warnings,
  ].join('\n');
}

function creditText(result: Estimate, row: number): string {
  const { trajectoryAdvantage, turnAdvantage, tokenAdvantage } = result;
  const nested = { trajectory: trajectoryAdvantage, turn: turnAdvantage, token: tokenAdvantage }[result.level];
  const values = [Array.isArray(nested) ? nested[row] : null].flat(Infinity) as (number | null)[];
  const shown = values.slice(0, SHOWN_TURNS).map((value) => decimal(value, 3));
  return values.length > SHOWN_TURNS ? `${shown.join('  ')}  … (${values.length})` : shown.join('  ');
}
