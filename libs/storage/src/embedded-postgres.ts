import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, RecreditError } from '#lib/kernel';
import { Client } from 'pg';
import { freePort } from './free-port.js';
import { lockHome } from './home-lock.js';
import { embeddedBinaries, type PostgresBinaries } from './postgres-binaries.js';
import { accountFor, launchAs, type Launch, type ServerAccount } from './server-account.js';
import { stopStrayServer } from './stray-server.js';

const USER = 'recredit';
const DATABASE = 'recredit';
const DEFAULT_PORT = 54_320;
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const QUICK_DEATHS_ALLOWED = 5;

/** For our load: few long-lived connections, large sequential appends, one machine that runs other things too. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '120',
  shared_buffers: '256MB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  min_wal_size: '160MB',
  wal_compression: 'off', // payloads are compressed already
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  random_page_cost: '1.1',
  // parallel plans share memory in /dev/shm, of which a container has 64 MB; our queries are many, not large
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  logging_collector: 'off',
  log_checkpoints: 'off',
};

export interface EmbeddedPostgresOptions {
  /** the database lies in `<home>/postgres`; the home is locked while it runs */
  readonly home: string;
  /** taken when it is free, else another one is */
  readonly port?: number;
  /** false is for tests: no fsync, so a power cut may lose everything */
  readonly durable?: boolean;
  /** told when the server dies as soon as it starts, again and again; it is tried further, more and more seldom */
  readonly onFailure?: (error: Error) => void;
}

export interface EmbeddedPostgres {
  readonly url: string;
  /** of the postmaster running now */
  pid(): number;
  stop(): Promise<void>;
}

/**
 * Starts the database of a home, making it on first use. It ends with this process however that ends, comes back on the
 * same port when it dies under us, and what an earlier process left running is shut down first.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const home = resolve(options.home);
  await mkdir(home, { recursive: true, mode: 0o711 });
  const lock = lockHome(home);
  try {
    const cluster = await prepareCluster(home, options.durable ?? true);
    const server = new Server(cluster, await freePort(options.port ?? DEFAULT_PORT), options.onFailure);
    await server.start();
    const urlTo = (database: string) => databaseUrl(cluster.password, server.port, database);
    await createDatabase(urlTo('postgres')).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    let stopped: Promise<void> | undefined;
    return {
      url: urlTo(DATABASE),
      pid: () => server.pid,
      stop: () => (stopped ??= server.stop().then(() => lock.release())),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Cluster {
  readonly home: string;
  readonly dataDir: string;
  readonly binaries: PostgresBinaries;
  readonly launch: Launch;
  readonly password: string;
  readonly durable: boolean;
}

async function prepareCluster(home: string, durable: boolean): Promise<Cluster> {
  const dataDir = join(home, 'postgres');
  const binaries = await embeddedBinaries();
  const account = await accountFor(dataDir);
  const launch = await launchAs(account, [dataDir, binaries.postgres]);
  const version = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null) {
    const password = await initialise({ home, dataDir, binaries, launch, durable, account });
    return { home, dataDir, binaries, launch, password, durable };
  }
  await stopStrayServer(dataDir);
  const password = await readFile(passwordFile(home), 'utf8').catch((cause: unknown) => {
    throw new RecreditError(
      'config.invalid',
      `${passwordFile(home)} cannot be read, and the database in ${dataDir} needs it: ${messageOf(cause)}`,
    );
  });
  return { home, dataDir, binaries, launch, password: password.trim(), durable };
}

export const passwordFile = (home: string) => join(home, 'database-password');

export function databaseUrl(password: string, port: number, database = DATABASE): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

const logFile = (home: string) => join(home, 'postgres.log');

/** Made beside its place and moved there when it is whole, so that a death half way leaves nothing that looks ready. */
async function initialise(cluster: Omit<Cluster, 'password'> & { account: ServerAccount }): Promise<string> {
  const { home, dataDir, account, launch, binaries } = cluster;
  const unfinished = `${dataDir}.new`;
  const secret = `${dataDir}.secret`;
  const password = randomBytes(24).toString('hex');
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  await writeFile(secret, password, { mode: 0o600 });
  if (account) await Promise.all([unfinished, secret].map((path) => chown(path, account.uid, account.gid)));
  try {
    await run(launch, binaries.initdb, [
      `--pgdata=${unfinished}`,
      `--username=${USER}`,
      `--pwfile=${secret}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...syncing(cluster.durable),
    ]);
  } finally {
    await rm(secret, { force: true });
  }
  await writeFile(passwordFile(home), password, { mode: 0o600 });
  await chmod(passwordFile(home), 0o600); // where an older one with other permissions was there
  await rename(unfinished, dataDir);
  return password;
}

/** One call for the file system instead of one per file (1,000 of them): it halves the first start on a busy disk. */
function syncing(durable: boolean): string[] {
  if (!durable) return ['--no-sync'];
  return process.platform === 'linux' ? ['--sync-method=syncfs'] : [];
}

async function run(launch: Launch, program: string, args: string[]): Promise<void> {
  const child = spawnAs(launch, program, args, 'pipe');
  let said = '';
  child.stdout?.on('data', (chunk) => (said += chunk));
  child.stderr?.on('data', (chunk) => (said += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new RecreditError('database.unavailable', `${program} failed: ${said.trim()}`);
}

function spawnAs(
  { command, ids }: Launch,
  program: string,
  args: string[],
  stdio: 'pipe' | ['ignore', number, number],
): ChildProcess {
  const [file = program, ...rest] = [...command, program, ...args];
  // its own session: Ctrl-C on the terminal is for us, who stop the database last; and no PG... variable of the user's
  return spawn(file, rest, {
    ...ids,
    stdio,
    detached: true,
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
}

/** One postmaster after the other on one data folder and port. */
class Server {
  #child: ChildProcess | null = null;
  readonly #stop = new AbortController();
  #quickDeaths = 0;
  #restart: Promise<void> = Promise.resolve();

  constructor(
    private readonly cluster: Cluster,
    public port: number,
    private readonly onFailure: (error: Error) => void = () => {},
  ) {}

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#launch();
        break;
      } catch (error) {
        // somebody took the port between our look and the server's bind
        if (attempt === 3 || !/could not (bind|create any TCP)/.test(messageOf(error))) throw error;
        this.port = await freePort(0);
      }
    }
    process.on('exit', this.#interrupt);
    for (const signal of DEADLY) process.on(signal, this.#die);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    process.off('exit', this.#interrupt);
    for (const signal of DEADLY) process.off(signal, this.#die);
    await this.#restart;
    const child = this.#child;
    if (!child || hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    const slow = setTimeout(() => child.kill('SIGQUIT'), 20_000);
    await ended;
    clearTimeout(slow);
  }

  async #launch(): Promise<void> {
    const { home, dataDir, launch, binaries, durable } = this.cluster;
    const settings = {
      ...SETTINGS,
      port: String(this.port),
      ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const { log, size } = openLog(logFile(home));
    const child = spawnAs(launch, binaries.postgres, ['-D', dataDir, ...flags], ['ignore', log, log]);
    closeSync(log);
    const spawnError = once(child, 'error').then(([error]) => error as Error);
    this.#child = child;
    while (!isReady(dataDir, child.pid)) {
      if (hasEnded(child)) {
        const said = readFileSync(logFile(home)).subarray(size).toString('utf8').trim();
        throw new RecreditError('database.unavailable', `the embedded PostgreSQL in ${dataDir} did not start: ${said}`);
      }
      const error = await Promise.race([spawnError, sleep(5)]);
      if (error) throw error;
    }
    const startedAt = performance.now();
    child.once('exit', () => {
      if (!this.#stop.signal.aborted) this.#restart = this.#revive(performance.now() - startedAt < 10_000);
    });
  }

  /** It may die again before it is ready: that too is a quick death. It is tried for ever: a full disk gets room again. */
  async #revive(quickly: boolean): Promise<void> {
    this.#quickDeaths = quickly ? this.#quickDeaths + 1 : 0;
    let cause: unknown = new Error('it keeps dying');
    for (; !this.#stop.signal.aborted; this.#quickDeaths++) {
      const rest = restAfter(this.#quickDeaths);
      if (this.#quickDeaths === QUICK_DEATHS_ALLOWED + 1) this.#tellOf(cause);
      try {
        await sleep(rest, undefined, { signal: this.#stop.signal });
        await stopStrayServer(this.cluster.dataDir);
        if (!this.#stop.signal.aborted) await this.#launch();
        return;
      } catch (error) {
        cause = error;
      }
    }
  }

  #tellOf(cause: unknown): void {
    const log = logFile(this.cluster.home);
    const message = `the embedded PostgreSQL dies as soon as it starts (see ${log}) and is tried again now and then: ${messageOf(cause)}`;
    this.onFailure(new RecreditError('database.unavailable', message, {}, { cause }));
  }

  readonly #interrupt = (): void => {
    this.#child?.kill('SIGINT');
  };

  /** Where the application does not handle the signal itself, we may not swallow it. */
  readonly #die = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) > 1) return;
    void this.stop().then(() => process.kill(process.pid, signal));
  };
}

const DEADLY = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Milliseconds before the next try: none at first, then longer each time, up to half a minute. */
function restAfter(quickDeaths: number): number {
  if (quickDeaths <= 1) return 0;
  return quickDeaths <= QUICK_DEATHS_ALLOWED
    ? 200
    : Math.min(30_000, 1_000 * 2 ** (quickDeaths - QUICK_DEATHS_ALLOWED));
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

function openLog(path: string): { log: number; size: number } {
  const log = openSync(path, 'a', 0o600);
  if (statSync(path).size > MAX_LOG_BYTES) truncateSync(path);
  return { log, size: statSync(path).size };
}

/** The postmaster writes its state into line 8 of its pid file, as pg_ctl reads it. */
function isReady(dataDir: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

async function createDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
}
