import { RecreditError } from '#lib/kernel';
import type { Cli, CommonOptions } from './cli.js';
import { ApiClient } from './client/api-client.js';
import type { Config } from './config.js';
import { firstKeyFile, readFirstKey, readRunningUrl } from './home-files.js';
import { openPlatformLog } from './platform-log.js';
import type { Platform } from './platform.js';

/** Runs work against a platform: the one that is running, or with --embedded one in this process, until the work is done. */
export async function withApi<Result>(
  cli: Cli,
  options: CommonOptions,
  work: (api: ApiClient) => Promise<Result>,
): Promise<Result> {
  const { config } = cli;
  if (!options.embedded) return work(await runningApi(cli, config));
  const platform = await startEmbedded(cli, config, options);
  try {
    return await work(new ApiClient(platform.url, await platform.adminKey()));
  } finally {
    await platform.stop();
  }
}

/** Without RECREDIT_URL, a platform of this home is found on whichever port it took. */
async function runningApi(cli: Cli, config: Config): Promise<ApiClient> {
  const url = cli.environment.RECREDIT_URL ? config.url : ((await readRunningUrl(config.home)) ?? config.url);
  const key = config.apiKey ?? (await readFirstKey(config.home));
  if (key) return new ApiClient(url, key);
  const alive = await fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );
  if (!alive) return new ApiClient(url, null); // what it is asked will say that nobody is there
  throw new RecreditError(
    'key.missing',
    `the platform at ${url} wants a key: set RECREDIT_API_KEY, or RECREDIT_HOME to its folder (there is no ${firstKeyFile(config.home)})`,
  );
}

async function startEmbedded(cli: Cli, config: Config, options: CommonOptions): Promise<Platform> {
  const starting = cli.progress('starting the platform', options);
  starting.update({ done: 0, total: 0 });
  try {
    // half a second of modules that no other command needs
    const { startPlatform } = await import('./platform.js');
    const log = openPlatformLog(config.home);
    const own = { ...config, host: '127.0.0.1', port: 0 };
    return await startPlatform(own, { workers: 1, logger: log.logger, workerLog: log.fd });
  } catch (error) {
    if (!(error instanceof RecreditError && error.details.home === config.home)) throw error;
    throw new RecreditError(error.code, `${error.message}; or leave out --embedded to use the one that runs`);
  } finally {
    starting.end();
  }
}
