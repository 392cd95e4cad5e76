import { sparkline } from '#app/example-trainer';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { findRun, RUN_FIELDS, type RunView } from '../client/runs.js';
import { online, positiveNumber } from '../options.js';
import { compact, count, counted, instant, NOTHING, percent } from '../output/numbers.js';
import { formatFields, formatTable } from '../output/table.js';
import { withApi } from '../session.js';

const PAGE = 100;
const CURVE_POINTS = 40;

interface RunsOptions extends CommonOptions {
  readonly project?: string;
  readonly limit: number;
}

export function runsCommand(cli: Cli): Command {
  return online(new Command('runs'))
    .description('the runs, newest first')
    .option('--project <name>', 'only those of one project')
    .option('--limit <n>', 'at most so many', positiveNumber, 50)
    .action(
      cli.answering(async (options: RunsOptions) => {
        const runs = await withApi(cli, options, (api) => listRuns(api, options));
        return { json: { runs }, text: runsText(runs) };
      }),
    );
}

interface RunPage {
  readonly edges: readonly { readonly node: RunView }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

async function listRuns(api: ApiClient, { project, limit }: RunsOptions): Promise<RunView[]> {
  const runs: RunView[] = [];
  for (let after: string | null = null; runs.length < limit;) {
    const { page }: { page: RunPage } = await api.query<{ page: RunPage }>(
      `query ($project: String, $first: Int, $after: String) {
        page: runs(project: $project, first: $first, after: $after) {
          edges { node { ${RUN_FIELDS} } } pageInfo { hasNextPage endCursor }
        }
      }`,
      { project: project ?? null, first: Math.min(PAGE, limit - runs.length), ...(after ? { after } : {}) },
    );
    runs.push(...page.edges.map(({ node }) => node));
    if (!page.pageInfo.hasNextPage) break;
    after = page.pageInfo.endCursor;
  }
  return runs;
}

function runsText(runs: readonly RunView[]): string {
  if (runs.length === 0)
    return 'no run yet: a trainer makes one through the SDK, `recredit import` and `recredit demo` do';
  return formatTable(
    [['run', 'project', 'state', 'last step', 'trajectories', 'turns', 'success', 'last event (UTC)']],
    runs.map(({ name, project, progress }) => [
      name,
      project,
      progress.state.toLowerCase(),
      count(progress.lastTrainingStep),
      count(progress.trajectoryCount),
      count(progress.turnCount),
      percent(progress.successRate),
      instant(progress.lastEventAt),
    ]),
    ['left', 'left', 'left', 'right', 'right', 'right', 'right', 'left'],
  );
}

interface RunDetail {
  readonly signals: readonly {
    readonly level: string;
    readonly name: string;
    readonly source: string;
    readonly rows: number;
    readonly minimum: number | null;
    readonly maximum: number | null;
    readonly mean: number | null;
    readonly meaning: string | null;
    readonly suggestion: string | null;
  }[];
  readonly diagnostics: readonly { readonly id: string; readonly value: number | null; readonly reading: string }[];
  readonly successRate: { readonly points: readonly { readonly value: number | null }[] };
  readonly analyses: {
    readonly edges: readonly {
      readonly node: {
        readonly id: string;
        readonly state: string;
        readonly createdAt: string;
        readonly estimators: readonly { readonly label: string }[];
      };
    }[];
  };
}

const DETAIL = `signals { level name source rows minimum maximum mean meaning suggestion } diagnostics { id value reading }
  successRate: metric(name: "successRate", points: ${CURVE_POINTS}) { points { value } }
  analyses(first: 5) { edges { node { id state createdAt estimators { label } } } }`;

export function runCommand(cli: Cli): Command {
  return online(new Command('run'))
    .description('one run: what it holds, which signals it carries, its latest analyses')
    .argument('<run>', 'name or id')
    .action(
      cli.answering(async (name: string, options: CommonOptions) => {
        const run = await withApi(cli, options, (api) => findRun<RunDetail>(api, name, DETAIL));
        const { successRate, analyses, ...rest } = run;
        const json = { ...rest, successRate: successRate.points, analyses: analyses.edges.map(({ node }) => node) };
        return { json, text: runText(run) };
      }),
    );
}

const atUtc = (time: string) => (Date.parse(time) === 0 ? instant(time) : `${instant(time)} UTC`);

function runText(run: RunView & RunDetail): string {
  const { progress, signals, diagnostics, analyses } = run;
  const rates = run.successRate.points.flatMap(({ value }) => (value === null ? [] : [value]));
  const incomplete = progress.incompleteCount > 0 ? `, ${count(progress.incompleteCount)} of them incomplete` : '';
  const fields: (readonly [string, string])[] = [
    ['run', `${run.name}  (${run.id})`],
    ['project', run.project],
    [
      'state',
      `${progress.state.toLowerCase()}${progress.lastEventAt ? `, last event ${atUtc(progress.lastEventAt)}` : ''}`,
    ],
    ['position', count(progress.position)],
    ['training steps', progress.lastTrainingStep === null ? NOTHING : `to ${count(progress.lastTrainingStep)}`],
    [
      'trajectories',
      `${count(progress.trajectoryCount)} in ${counted(progress.groupCount, 'group')}, ${counted(progress.turnCount, 'turn')}${incomplete}`,
    ],
    ['success', `${percent(progress.successRate)}, mean reward ${compact(progress.meanOutcomeReward)}`],
  ];
  if (rates.length > 1) {
    fields.push([
      'success by step',
      `${sparkline(rates, CURVE_POINTS)}  ${percent(rates[0])} to ${percent(rates.at(-1))}`,
    ]);
  }
  fields.push(...diagnostics.map(({ id, reading }) => [id, reading] as const));
  const sections = [formatFields(fields)];
  if (signals.length > 0) sections.push(signalsText(signals));
  if (analyses.edges.length > 0) {
    const rows = analyses.edges.map(({ node }) => [
      node.id,
      node.state.toLowerCase(),
      instant(node.createdAt),
      node.estimators.map(({ label }) => label).join(', '),
    ]);
    sections.push(
      formatTable([['latest analyses', 'state', 'asked for (UTC)', 'estimators']], rows, [
        'left',
        'left',
        'left',
        'left',
      ]),
    );
  }
  return sections.join('\n\n');
}

function signalsText(signals: RunDetail['signals']): string {
  const table = formatTable(
    [['signal', 'source', 'rows', 'smallest', 'mean', 'largest']],
    signals.map(({ level, name, source, rows, minimum, mean, maximum }) => [
      `${level}.${name}`,
      source,
      count(rows),
      compact(minimum),
      compact(mean),
      compact(maximum),
    ]),
    ['left', 'left', 'right', 'right', 'right', 'right'],
  );
  const notes = signals.flatMap(({ level, name, meaning, suggestion }) => {
    if (suggestion !== null) return [`${level}.${name} is no known signal: was ${suggestion} meant?`];
    return meaning === null ? [`${level}.${name} is no known signal`] : [];
  });
  return [table, ...notes].join('\n');
}
