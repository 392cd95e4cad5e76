import { FAULTS, type FaultId } from '#app/example-trainer';
import { Command, Option } from 'commander';
import type { Cli } from '../cli.js';
import { ApiClient } from '../client/api-client.js';
import type { Config } from '../config.js';
import { playDemo } from '../demo/play-demo.js';
import { logFile } from '../home-files.js';
import { openPlatformLog } from '../platform-log.js';
import type { Platform, PlatformOptions } from '../platform.js';
import { stopRequest } from '../stop-request.js';

export function demoCommand(cli: Cli): Command {
  return new Command('demo')
    .description('train a small agent by RL, store what it does, and have eight estimators judge it again')
    .option('--exit', 'end when it is told, instead of staying up')
    .addOption(
      new Option('--plant <fault>', 'train by GRPO with a mistake in the advantages, and have it audited').choices(
        Object.keys(FAULTS),
      ),
    ) // prettier-ignore
    .action(async ({ exit = false, plant = null }: { exit?: boolean; plant?: FaultId | null }) => {
      const { config } = cli;
      const stop = stopRequest();
      const log = openPlatformLog(config.home);
      const startedAt = performance.now();
      cli.say('Recredit: a small agent learns by RL; then eight estimators say what each of its turns was worth.\n');
      const platform = await startAnywhere(cli, config, { workers: 1, logger: log.logger, workerLog: log.fd });
      try {
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
        cli.say(`platform   ready at ${platform.url} after ${seconds} s; log in ${logFile(config.home)}`);
        const api = new ApiClient(platform.url, await platform.adminKey());
        const wasStopped = await Promise.race([
          playDemo({ cli, api, config, staysUp: !exit, plant }).then(() => false),
          stop.requested.then(() => true),
        ]);
        if (!exit && !wasStopped) await stop.requested;
        if (wasStopped) cli.exitCode = 130;
        if (wasStopped || !exit) cli.note('stopping');
      } finally {
        await platform.stop();
      }
    });
}

/** On the port that was asked for, or, where that is taken, on a free one. */
async function startAnywhere(cli: Cli, config: Config, options: PlatformOptions): Promise<Platform> {
  const { isPortTaken, startPlatform } = await import('../platform.js');
  try {
    return await startPlatform(config, options);
  } catch (error) {
    if (!isPortTaken(error)) throw error;
    cli.say(`platform   port ${config.port} is taken, so it takes a free one`);
    return startPlatform({ ...config, port: 0 }, options);
  }
}
