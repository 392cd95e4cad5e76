import { resolve } from 'node:path';
import { planAnalysisJob } from '#lib/analysis';
import { backUp, restore, type Manifest } from '#lib/backup';
import { Queue } from '#lib/queue';
import { openSegmentStore } from '#lib/storage';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { withDatabase } from '../database.js';
import { answers } from '../options.js';
import { bytes, counted } from '../output/numbers.js';

/** Hours of work must not end by a bucket that is away for some seconds. */
const WHOLE = { patienceMs: 60_000, copies: false };

const WHERE = 'works on the database itself: that of RECREDIT_DATABASE_URL, or of RECREDIT_HOME';

export function backupCommand(cli: Cli): Command {
  return answers(new Command('backup'))
    .description('write all that cannot be made again into an empty folder, while the platform runs or not')
    .argument('<folder>', 'empty, or not there yet')
    .addHelpText('after', `\nIt ${WHERE}, running or not.`)
    .action(
      cli.answering(async (path: string, options: CommonOptions) => {
        const folder = resolve(cli.workingDirectory, path);
        const bar = cli.progress('backing up', options);
        const manifest = await withDatabase(cli.config, async ({ owner }) => {
          const store = await openSegmentStore(cli.config.segments, WHOLE);
          return backUp(owner, store, folder, ({ bytes: done, file }) =>
            bar.update({ done: 0, total: 0, detail: `${file}  ${bytes(done)}` }),
          );
        }).finally(() => bar.end());
        const { createdAt, runs, events, credit } = manifest;
        const json = { folder, createdAt, runs, events, creditFiles: credit.count, bytes: sizeOf(manifest) };
        return { json, text: `${contents(manifest)}: ${bytes(json.bytes)} in ${folder}` };
      }),
    );
}

export function restoreCommand(cli: Cli): Command {
  return answers(new Command('restore'))
    .description('put a backup into an empty platform: all of it or nothing; the chain of every run is verified')
    .argument('<folder>', 'what `recredit backup` wrote')
    .addHelpText('after', `\nIt ${WHERE}, where no platform has been started yet.`)
    .action(
      cli.answering(async (path: string, options: CommonOptions) => {
        const folder = resolve(cli.workingDirectory, path);
        const bar = cli.progress('restoring', options);
        const onProgress = (what: string, done: number, total: number) => bar.update({ done, total, detail: what });
        const restored = await withDatabase(
          cli.config,
          async ({ owner, url }) => {
            const store = await openSegmentStore(cli.config.segments, WHOLE);
            const queue = new Queue(url);
            await queue.start();
            try {
              return await restore(
                {
                  owner,
                  store,
                  onProgress,
                  plan: async (ids, transaction) => {
                    const payloads = ids.map((analysisId) => ({ analysisId }));
                    await queue.enqueue(planAnalysisJob, payloads, { transaction });
                  },
                },
                folder,
              );
            } finally {
              await queue.stop();
            }
          },
          { create: true },
        ).finally(() => bar.end());
        const { manifest, runs, batches, events } = restored;
        const json = {
          folder,
          createdAt: manifest.createdAt,
          runs,
          batches,
          events,
          creditFiles: manifest.credit.count,
        };
        const verified = `${contents(manifest)} are back, every chain verified`;
        return { json, text: `${verified}\nread models and segments are made of the log again when the platform runs` };
      }),
    );
}

function contents({ runs, events, credit }: Manifest): string {
  return `${counted(runs, 'run')} with ${counted(events, 'event')} and ${counted(credit.count, 'credit file')}`;
}

function sizeOf({ tables, credit }: Manifest): number {
  return [...tables, credit].reduce((sum, file) => sum + file.bytes, 0);
}
