import { Command, InvalidArgumentError } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { online, positiveNumber } from '../options.js';
import { counted, instant } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

const FIELDS = 'id name createdAt retentionDays';
const PAGE = 500;

interface ProjectView {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly retentionDays: number | null;
}

/** In an object: an option cannot be null. */
interface Retention {
  readonly days: number | null;
}

interface SetOptions extends CommonOptions {
  readonly retention: Retention;
}

export function projectsCommand(cli: Cli): Command {
  return new Command('projects')
    .description('projects, and how long their runs are kept')
    .addCommand(listCommand(cli))
    .addCommand(setCommand(cli));
}

function listCommand(cli: Cli): Command {
  return online(new Command('list'))
    .description('the projects that the key sees')
    .action(
      cli.answering(async (options: CommonOptions) => {
        const { projects } = await withApi(cli, options, (api) =>
          api.query<{ projects: { edges: readonly { node: ProjectView }[] } }>(
            `query { projects(first: ${PAGE}) { edges { node { ${FIELDS} } } } }`,
          ),
        );
        const shown = projects.edges.map(({ node }) => node);
        return { json: { projects: shown }, text: projectsText(shown) };
      }),
    );
}

function setCommand(cli: Cli): Command {
  return online(new Command('set'))
    .description('change a project')
    .argument('<project>', 'name or id')
    .requiredOption(
      '--retention <days>',
      'erase runs so many days after they ended and nothing came any more; forever: never',
      retention,
    )
    .addHelpText('after', '\nIt needs an admin key.')
    .action(
      cli.answering(async (project: string, { retention: { days }, ...options }: SetOptions) => {
        const { set } = await withApi(cli, options, (api) =>
          api.query<{ set: ProjectView }>(
            `mutation ($project: String!, $days: Int) { set: setRetention(project: $project, days: $days) { ${FIELDS} } }`,
            { project, days },
          ),
        );
        return { json: set, text: `project ${set.name}: runs are ${keptFor(set)}` };
      }),
    );
}

function retention(text: string): Retention {
  if (text === 'forever') return { days: null };
  try {
    return { days: positiveNumber(text) };
  } catch {
    throw new InvalidArgumentError('expected a number of days, such as 90, or forever.');
  }
}

function keptFor({ retentionDays }: ProjectView): string {
  if (retentionDays === null) return 'kept for ever';
  return `erased ${counted(retentionDays, 'day')} after they ended and nothing came any more`;
}

function projectsText(projects: readonly ProjectView[]): string {
  return formatTable(
    [['project', 'made (UTC)', 'runs are']],
    projects.map((project) => [project.name, instant(project.createdAt), keptFor(project)]),
    ['left', 'left', 'left'],
  );
}
