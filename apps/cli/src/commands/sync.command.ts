import { sync, type SyncedProducer, type SyncReport } from '#lib/sdk';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { online } from '../options.js';
import { count, counted } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

export function syncCommand(cli: Cli): Command {
  return online(new Command('sync'))
    .description('deliver what trainers that died, or had no network, left in a spool')
    .argument('<dir>', "the spool, or one producer's folder in it")
    .action(
      cli.answering(async (dir: string, options: CommonOptions) => {
        const report = await withApi(cli, options, async (api) => {
          const bar = cli.progress('sending', options);
          const onProgress = ({ sent }: SyncReport) =>
            bar.update({ done: 0, total: 0, detail: counted(sent, 'event') });
          const key = api.apiKey ? { apiKey: api.apiKey } : {};
          return sync(dir, { url: api.url, ...key, onProgress }).finally(() => bar.end());
        });
        const isDone = report.unsent === 0 && report.refused === 0;
        return { json: report, text: syncText(report), exitCode: isDone ? 0 : 1 };
      }),
    );
}

function syncText({ producers, sent, unsent, refused }: SyncReport): string {
  if (producers.length === 0) return 'nothing waits there';
  const table = formatTable(
    [['run', 'project', 'sent', 'unsent', 'refused', '']],
    producers.map((producer) => [
      producer.name,
      producer.project,
      count(producer.sent),
      count(producer.unsent),
      count(producer.refused),
      remark(producer),
    ]),
    ['left', 'left', 'right', 'right', 'right', 'left'],
  );
  return `${table}\n${counted(sent, 'event')} sent, ${count(unsent)} unsent, ${count(refused)} refused`;
}

function remark({ held, problem }: SyncedProducer): string {
  if (held) return 'a living process has it and sends it itself';
  return problem?.detail ?? '';
}
