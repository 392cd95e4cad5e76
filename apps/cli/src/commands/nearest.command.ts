import { setTimeout as sleep } from 'node:timers/promises';
import { NEAREST_WITHIN, type NearestWithin } from '#lib/diagnosis';
import { RecreditError } from '#lib/kernel';
import { Command, Option } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { online, positiveNumber, wholeNumber } from '../options.js';
import { compact, count, counted, decimal } from '../output/numbers.js';
import { formatTable, onOneLine } from '../output/table.js';
import { withApi } from '../session.js';

interface NearestOptions extends CommonOptions {
  readonly k?: number;
  readonly within?: NearestWithin;
  readonly asOf?: number;
}

interface NearTurnView {
  readonly trajectory: string;
  readonly index: number;
  readonly trainingStep: number;
  readonly group: string;
  readonly outcomeReward: number | null;
  readonly similarity: number;
  readonly turn: TurnView | null;
}

interface TurnView {
  readonly stateExcerpt: string;
  readonly actionExcerpt: string;
}

interface NearestView {
  readonly id: string;
  readonly run: string;
  readonly trajectory: string;
  readonly index: number;
  readonly turn: TurnView | null;
  readonly k: number;
  readonly within: string;
  readonly asOf: number;
  readonly state: 'RUNNING' | 'COMPLETED' | 'FAILED';
  readonly failure: string | null;
  readonly by: 'EMBEDDING' | 'TEXT';
  readonly failures: readonly NearTurnView[];
  readonly successes: readonly NearTurnView[];
  readonly compared: { readonly failures: number; readonly successes: number };
  readonly leftOut: { readonly unjudged: number; readonly incomparable: number };
  readonly devices: readonly string[];
  readonly warnings: readonly string[];
}

const TURN = 'turn { stateExcerpt actionExcerpt }';
const NEAR = `trajectory index trainingStep group outcomeReward similarity ${TURN}`;
const FIELDS = `id run trajectory index ${TURN} k within asOf state failure by failures { ${NEAR} } successes { ${NEAR} }
  compared { failures successes } leftOut { unjudged incomparable } devices warnings`;
const POLL_MS = 200;
const EXCERPT = 48;
const OWN = 100;

export function nearestCommand(cli: Cli): Command {
  return online(new Command('nearest'))
    .description('turns that began in a state like that of a turn: in trajectories that failed, and that succeeded')
    .argument('<run>', 'name or id')
    .argument('<trajectory>', 'its id')
    .argument('<turn>', 'from 0', wholeNumber)
    .option('--k <number>', 'so many failures and so many successes (default: 5)', positiveNumber)
    .addOption(
      new Option('--within <what>', 'the run, its task (groups of the same name) or its group (default: run)').choices(
        NEAREST_WITHIN,
      ),
    )
    .option('--as-of <position>', 'events before it are looked at', wholeNumber)
    .action(
      cli.answering(async (run: string, trajectory: string, index: number, options: NearestOptions) => {
        const waiting = cli.progress('searching', options);
        waiting.update({ done: 0, total: 0 });
        const found = await withApi(cli, options, (api) =>
          findNearest(api, { run, trajectory, index }, options),
        ).finally(() => waiting.end());
        const { id, state: _state, failure: _failure, within, by, ...rest } = found;
        const json = { search: id, within: within.toLowerCase(), by: by.toLowerCase(), ...rest };
        return { json, text: nearestText(found) };
      }),
    );
}

async function findNearest(
  api: ApiClient,
  turn: { readonly run: string; readonly trajectory: string; readonly index: number },
  { k, within, asOf }: NearestOptions,
): Promise<NearestView> {
  const input = {
    ...turn,
    ...(k !== undefined && { k }),
    ...(within && { within: within.toUpperCase() }),
    ...(asOf !== undefined && { asOf }),
  };
  const { findNearestTurns } = await api.query<{ findNearestTurns: { readonly id: string } }>(
    'mutation ($input: FindNearestTurnsInput!) { findNearestTurns(input: $input) { id } }',
    { input },
  );
  for (;;) {
    const { nearestTurns } = await api.query<{ nearestTurns: NearestView }>(
      `query ($id: ID!) { nearestTurns(id: $id) { ${FIELDS} } }`,
      { id: findNearestTurns.id },
    );
    if (nearestTurns.state === 'COMPLETED') return nearestTurns;
    if (nearestTurns.state === 'FAILED') {
      throw new RecreditError('request.invalid', `nothing was found: ${nearestTurns.failure}`);
    }
    await sleep(POLL_MS);
  }
}

function nearestText(found: NearestView): string {
  const { trajectory, index, turn, by, compared, leftOut, devices, warnings } = found;
  const what = by === 'TEXT' ? 'texts' : 'embeddings';
  const left = [
    ...(leftOut.unjudged > 0 ? [`${count(leftOut.unjudged)} of which nobody said how they ended`] : []),
    ...(leftOut.incomparable > 0 ? [`${count(leftOut.incomparable)} without a state to compare`] : []),
  ];
  const head = [
    `turn ${count(index)} of ${trajectory}`,
    ...(turn ? [`state: ${onOneLine(turn.stateExcerpt, OWN)}`, `action: ${onOneLine(turn.actionExcerpt, OWN)}`] : []),
    `its state was compared with those of ${counted(compared.failures, 'failure')} and ${counted(compared.successes, 'success', 'successes')}, by ${what}, on ${devices.join(', ')}`,
    ...(left.length > 0 ? [`left out: ${left.join(', ')}`] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return [head.join('\n'), turnsText('failures', found.failures), turnsText('successes', found.successes)].join('\n\n');
}

function turnsText(title: string, turns: readonly NearTurnView[]): string {
  if (turns.length === 0) return `no ${title} to compare with`;
  const rows = turns.map(({ similarity, trajectory, index, trainingStep, group, outcomeReward, turn }) => [
    decimal(similarity, 3),
    trajectory,
    count(index),
    count(trainingStep),
    onOneLine(group, 24),
    compact(outcomeReward),
    onOneLine(turn?.stateExcerpt ?? '', EXCERPT),
    onOneLine(turn?.actionExcerpt ?? '', EXCERPT),
  ]);
  const heads = [`nearest ${title}`, 'trajectory', 'turn', 'step', 'group', 'reward', 'state', 'action'];
  return formatTable([heads], rows, ['right', 'left', 'right', 'right', 'left', 'right', 'left', 'left']);
}
