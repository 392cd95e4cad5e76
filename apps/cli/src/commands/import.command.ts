import { importerOf, importFiles, IMPORTERS, type ImportResult } from '#lib/importers';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { awaitProjection } from '../client/runs.js';
import { online } from '../options.js';
import { count, counted } from '../output/numbers.js';
import { withApi } from '../session.js';

const SHOWN_SKIPS = 5;

interface ImportOptions extends CommonOptions {
  readonly run: string;
  readonly project: string;
}

export function importCommand(cli: Cli): Command {
  const formats = IMPORTERS.map(({ id, title }) => `  ${id.padEnd(20)} ${title}`).join('\n');
  return online(new Command('import'))
    .description('import files of another trainer, or of the protocol, into a run')
    .argument('<format>', 'see below')
    .argument('<file...>', 'plain, .gz or .zst')
    .requiredOption('--run <name>', 'the run; one that is there is continued, and what it has is not added again')
    .option('--project <name>', 'project of the run', 'default')
    .addHelpText('after', `\nFormats:\n${formats}`)
    .action(
      cli.answering(async (format: string, files: string[], options: ImportOptions) => {
        importerOf(format); // before a platform is started for it
        const result = await withApi(cli, options, async (api) => {
          const bar = cli.progress('importing', options);
          const target = { project: options.project, name: options.run, url: api.url };
          const imported = await importFiles(format, files, {
            target: { ...target, ...(api.apiKey ? { apiKey: api.apiKey } : {}) },
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
        return { json: { ...result, name: options.run }, text: importText(options.run, result) };
      }),
    );
}

function importText(name: string, result: ImportResult): string {
  const { trajectories, groups, turns, annotations, skipped, skippedCount, newEvents, knownEvents } = result;
  const news =
    newEvents === 0
      ? 'all of it was there before: nothing was added'
      : `${count(newEvents)} events added${knownEvents > 0 ? `, ${count(knownEvents)} were there before` : ''}`;
  return [
    `${name}: ${counted(trajectories, 'trajectory', 'trajectories')} in ${counted(groups, 'group')}, ${counted(turns, 'turn')}${annotations > 0 ? `, ${counted(annotations, 'annotation')}` : ''}; ${news}`,
    ...(skippedCount > 0 ? [`${counted(skippedCount, 'record')} skipped:`] : []),
    ...skipped.slice(0, SHOWN_SKIPS).map(({ where, why }) => `  ${where}: ${why}`),
    ...(skippedCount > SHOWN_SKIPS ? [`  ... and ${count(skippedCount - SHOWN_SKIPS)} more (--json lists them)`] : []),
  ].join('\n');
}
