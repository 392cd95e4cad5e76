import { importerOf, importFiles, IMPORTERS, previewFiles, type ImportResult } from '#lib/importers';
import { RecreditError } from '#lib/kernel';
import { Command, InvalidArgumentError } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { awaitProjection } from '../client/runs.js';
import { online } from '../options.js';
import { previewText, recognizedText, skippedText } from '../output/import-text.js';
import { count, counted } from '../output/numbers.js';
import { withApi } from '../session.js';

interface ImportOptions extends CommonOptions {
  readonly run?: string;
  readonly project: string;
  readonly dryRun?: boolean;
  readonly set?: Readonly<Record<string, string>>;
}

export function importCommand(cli: Cli): Command {
  const formats = ['auto', ...IMPORTERS.map(({ id }) => id)];
  const titles = ['told by what each file begins with', ...IMPORTERS.map(({ title }) => title)];
  const listed = formats.map((id, i) => `  ${id.padEnd(20)} ${titles[i]}`).join('\n');
  return online(new Command('import'))
    .description('import files of another trainer, or of the protocol, into a run')
    .argument('<format>', 'see below')
    .argument('<file...>', 'files or folders; plain, .gz or .zst')
    .option('--run <name>', 'the run; one that is there is continued, and what it has is not added again')
    .option('--project <name>', 'project of the run', 'default')
    .option('--set <setting=value>', 'what the files do not say themselves; may be repeated', setting)
    .option('--dry-run', 'show what would be understood and what not, and store nothing')
    .addHelpText('after', `\nFormats:\n${listed}\n\nSettings:\n${settingsText()}`)
    .action(
      cli.answering(async (format: string, files: string[], options: ImportOptions) => {
        if (format !== 'auto') importerOf(format).reader(options.set); // before a platform is started for it
        if (options.dryRun) {
          const preview = await previewFiles(format, files, options.set);
          return { json: preview, text: previewText(preview) };
        }
        const { run } = options;
        if (run === undefined) throw new RecreditError('usage.wrong', 'expected --run <name>, or --dry-run');
        const result = await withApi(cli, options, async (api) => {
          const bar = cli.progress('importing', options);
          const target = { project: options.project, name: run, url: api.url };
          const imported = await importFiles(format, files, {
            target: { ...target, ...(api.apiKey ? { apiKey: api.apiKey } : {}) },
            settings: options.set,
            onProgress: ({ bytesRead, bytes, trajectories, turns }) =>
              bar.update({
                done: bytesRead,
                total: bytes,
                detail: `${counted(trajectories, 'trajectory', 'trajectories')}, ${counted(turns, 'turn')}`,
              }),
          }).finally(() => bar.end());
          if (imported.newEvents > 0) await awaitProjection(api, imported.run, imported.trajectories);
          return imported;
        });
        return { json: { ...result, name: run }, text: importText(run, result) };
      }),
    );
}

function setting(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected setting=value, such as policy=gpt-4.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

/** The settings of each format, those of all formats first. */
function settingsText(): string {
  const shapes = IMPORTERS.map(({ id, settings }) => ({ id, shape: settings.shape as Record<string, Described> }));
  const everywhere = Object.keys(shapes[0].shape).filter((name) => shapes.every(({ shape }) => name in shape));
  const line = (owner: string, name: string, { description = '' }: Described) =>
    `  ${`${owner}${name}`.padEnd(36)} ${description}`;
  return [
    ...everywhere.map((name) => line('', name, shapes[0].shape[name])),
    ...shapes.flatMap(({ id, shape }) =>
      Object.keys(shape)
        .filter((name) => !everywhere.includes(name))
        .map((name) => line(`${id}: `, name, shape[name])),
    ),
  ].join('\n');
}

interface Described {
  readonly description?: string | undefined;
}

function importText(name: string, result: ImportResult): string {
  const { trajectories, groups, turns, annotations, newEvents, knownEvents } = result;
  const news =
    newEvents === 0
      ? 'all of it was there before: nothing was added'
      : `${counted(newEvents, 'event')} added${knownEvents > 0 ? `, ${count(knownEvents)} were there before` : ''}`;
  return [
    ...recognizedText(result.files),
    `${name}: ${counted(trajectories, 'trajectory', 'trajectories')} in ${counted(groups, 'group')}, ${counted(turns, 'turn')}${annotations > 0 ? `, ${counted(annotations, 'annotation')}` : ''}; ${news}`,
    ...skippedText(result),
  ].join('\n');
}
