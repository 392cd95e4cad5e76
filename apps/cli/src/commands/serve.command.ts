import { Command } from 'commander';
import type { Cli } from '../cli.js';
import { firstKeyFile, logFile } from '../home-files.js';
import { positiveNumber } from '../options.js';
import { openPlatformLog } from '../platform-log.js';
import { stopRequest } from '../stop-request.js';

export function serveCommand(cli: Cli): Command {
  return new Command('serve')
    .description('run the platform: API, workers and, unless RECREDIT_DATABASE_URL names another, its own Postgres')
    .option(
      '--workers <n>',
      'worker processes; each computes as many shards at once as there are cores',
      positiveNumber,
      1,
    )
    .action(async ({ workers }: { workers: number }) => {
      const { startPlatform } = await import('../platform.js');
      const { config } = cli;
      const stop = stopRequest();
      const log = openPlatformLog(config.home, { level: config.logLevel, tell: (line) => cli.note(line) });
      const startedAt = performance.now();
      const platform = await startPlatform(config, { workers, logger: log.logger, workerLog: log.fd });
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      cli.say(`Recredit is ready at ${platform.url}  (after ${seconds} s)`);
      if (platform.firstKey) {
        cli.say(`first admin key, shown this once: ${platform.firstKey}`);
        cli.say(`                  it also lies in ${firstKeyFile(config.home)}`);
      }
      cli.say(`GraphQL at ${platform.url}/graphql   log in ${logFile(config.home)}   Ctrl-C stops it`);
      await stop.requested;
      cli.note('stopping');
      await platform.stop();
    });
}
