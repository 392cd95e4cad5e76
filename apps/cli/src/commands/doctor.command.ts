import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '#lib/kernel';
import { openPool, runningPostgres, startEmbeddedPostgres } from '#lib/storage';
import { Command } from 'commander';
import type { Cli } from '../cli.js';
import type { Config } from '../config.js';
import { readFirstKey, readRunningUrl } from '../home-files.js';
import { answers } from '../options.js';
import { formatTable } from '../output/table.js';
import { segmentsAdvice, segmentsCheck } from './segments-check.js';

/** `ok: null`: not as it might be, and no harm. */
interface Check {
  readonly name: string;
  readonly ok: boolean | null;
  readonly found: string;
  readonly advice: string | null;
}

const OLDEST_POSTGRES = 15;
const NEWEST_POSTGRES = 18;

export function doctorCommand(cli: Cli): Command {
  return answers(new Command('doctor'))
    .description('look at what Recredit stands on, and say what to do where it fails')
    .action(
      cli.answering(async () => {
        const { config } = cli;
        const checks = [
          nodeCheck(),
          await attempt('database', DATABASE_ADVICE, () => databaseCheck(config)),
          await attempt('segment store', segmentsAdvice(config.segments), () => segmentsCheck(config.segments)),
          ...(await deviceChecks(config)),
          await platformCheck(cli, config),
        ];
        const ok = checks.every((check) => check.ok !== false);
        return { json: { ok, checks }, text: doctorText(checks), exitCode: ok ? 0 : 1 };
      }),
    );
}

const DATABASE_ADVICE =
  'set RECREDIT_DATABASE_URL to a PostgreSQL 15 to 18, or run `npm install --no-save` for the embedded one';

function nodeCheck(): Check {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const ok = major > 22 || (major === 22 && minor >= 15);
  const advice = 'run it through npm (`npm run -s recredit -- ...`), which brings Node 24, or install Node 24';
  return {
    name: 'node',
    ok,
    found: `${process.version} on ${process.platform} ${process.arch}`,
    advice: ok ? null : advice,
  };
}

async function attempt(name: string, advice: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, found: await look(), advice: null };
  } catch (error) {
    return { name, ok: false, found: messageOf(error).replace(/\s+/g, ' '), advice };
  }
}

async function databaseCheck(config: Config): Promise<string> {
  if (config.databaseUrl) return `${await versionOf(config.databaseUrl)} of RECREDIT_DATABASE_URL`;
  const running = await runningPostgres(config.home);
  if (running) return `${await versionOf(running)}, embedded, running in ${config.home}`;
  // tried in a folder of its own: looking must not change the home
  const trial = await mkdtemp(join(tmpdir(), 'recredit-doctor-'));
  try {
    const startedAt = performance.now();
    const postgres = await startEmbeddedPostgres({ home: trial, port: 0, durable: false });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const version = await versionOf(postgres.url).finally(() => postgres.stop());
    return `${version}, embedded: a trial one was made and started in ${seconds} s`;
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

async function versionOf(url: string): Promise<string> {
  const pool = openPool(url, { size: 1, applicationName: 'recredit doctor' });
  try {
    const { rows } = await pool.query(`select current_setting('server_version_num')::int / 10000 as major,
      split_part(current_setting('server_version'), ' ', 1) as version`);
    const { major, version } = rows[0] as { major: number; version: string };
    if (major >= OLDEST_POSTGRES && major <= NEWEST_POSTGRES) return `PostgreSQL ${version}`;
    throw new Error(`PostgreSQL ${version} is not one of ${OLDEST_POSTGRES} to ${NEWEST_POSTGRES}`);
  } finally {
    await pool.end();
  }
}

/** What estimators that learn would compute on. Tried in a process of its own: a driver may take its process along. */
async function deviceChecks({ device: wish }: Config): Promise<Check[]> {
  // loads what a worker is made of, which no other check needs
  const { probedDevices } = await import('#app/worker');
  const reports = await probedDevices(wish);
  if (typeof reports === 'string') {
    const advice = 'set RECREDIT_DEVICE to wasm; estimators that do not learn need no device';
    return [{ name: 'device', ok: false, found: reports, advice }];
  }
  const isMet = reports.some(({ chosen }) => chosen);
  const checks = reports.map(({ id, isThere, chosen, found }): Check => {
    const ok = chosen ? true : null;
    const state = chosen ? 'taken' : isThere ? 'not taken' : 'not here';
    return { name: `device ${id}`, ok, found: `${state}: ${found}`, advice: null };
  });
  if (isMet) return checks;
  const advice = 'set RECREDIT_DEVICE to one that is there, or to auto; docs/guides/devices.md says what each takes';
  return checks.map((check) => (check.name === `device ${wish}` ? { ...check, ok: false, advice } : check));
}

async function platformCheck(cli: Cli, config: Config): Promise<Check> {
  const url = cli.environment.RECREDIT_URL ? config.url : ((await readRunningUrl(config.home)) ?? config.url);
  const statusOf = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers, signal: AbortSignal.timeout(5000) }).then(
      ({ status }) => status,
      () => null,
    );
  const name = 'platform';
  if ((await statusOf('/healthz')) !== 200) {
    return { name, ok: null, found: `none answers at ${url}`, advice: '`npm start` starts one; --embedded needs none' };
  }
  const key = config.apiKey ?? (await readFirstKey(config.home));
  const status = await statusOf('/readyz', key ? { authorization: `Bearer ${key}` } : {});
  if (status === 200) return { name, ok: true, found: `ready at ${url}, and the key is good`, advice: null };
  if (status === 401 || status === 403) {
    return {
      name,
      ok: false,
      found: `${url} does not take the key`,
      advice: 'set RECREDIT_API_KEY, or RECREDIT_HOME to its folder',
    };
  }
  return {
    name,
    ok: false,
    found: `${url} is not ready (status ${status})`,
    advice: 'its log says why: recredit.log in its home',
  };
}

function doctorText(checks: readonly Check[]): string {
  const mark = ({ ok }: Check) => (ok === null ? '–' : ok ? 'ok' : 'FAILED');
  const rows = checks.flatMap((check) => [
    [mark(check), check.name, check.found],
    ...(check.advice ? [['', '', check.advice]] : []),
  ]);
  return formatTable([], rows, ['left', 'left', 'left']);
}
