import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openPool, openSegmentStore, type Pool, type SegmentStore } from '#lib/storage';
import { readConfig } from '../../apps/cli/src/config.js';
import { processesOn } from './processes.js';
import { COMPILE_CACHE, RECREDIT } from './recredit.js';

const START_MS = 110_000;

export interface Serving {
  readonly workers?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A home and a port that one platform process after the other serves. */
export class ServedPlatform {
  readonly home = mkdtempSync(join(tmpdir(), 'recredit-e2e-'));
  #child: ChildProcess | null = null;
  #databaseUrl: string | undefined;
  #segments: string | undefined;
  #opened: Pool[] = [];

  private constructor(readonly port: number) {}

  /** Nothing runs yet. */
  static async prepare(): Promise<ServedPlatform> {
    return new ServedPlatform(await aFreePort());
  }

  /** A second platform that has all that this one has, which is stopped: the same runs under the same ids. */
  async copy(): Promise<ServedPlatform> {
    const copy = await ServedPlatform.prepare();
    execFileSync('cp', ['-a', `${this.home}/.`, copy.home]);
    return copy;
  }

  static async start(serving?: Serving): Promise<ServedPlatform> {
    const platform = await ServedPlatform.prepare();
    await platform.start(serving).catch(async (error: unknown) => {
      await platform.remove();
      throw error;
    });
    return platform;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** the first admin key */
  get key(): string {
    return readFileSync(join(this.home, 'first-key'), 'utf8').trim();
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts `recredit serve` of the build. Returned means that it answers and its workers are there. */
  async start({ workers = 1, environment = {} }: Serving = {}): Promise<void> {
    const log = openSync(this.#logFile, 'a');
    const child = spawn(process.execPath, [RECREDIT, 'serve', '--workers', String(workers)], {
      cwd: this.home,
      env: {
        PATH: process.env.PATH,
        ...COMPILE_CACHE,
        RECREDIT_HOME: this.home,
        RECREDIT_PORT: String(this.port),
        ...environment,
      },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    const end = () => child.kill('SIGTERM'); // a test that is interrupted leaves nothing behind
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    this.#databaseUrl = environment.RECREDIT_DATABASE_URL;
    this.#segments = readConfig({ RECREDIT_HOME: this.home, ...environment }, this.home).segments;
    await until('the platform serves', START_MS, async () => {
      if (child.exitCode !== null) throw new Error(`the platform ended: ${this.log()}`);
      return (await this.#isReady()) && this.workers().length >= workers;
    });
  }

  /** Ends it as a service manager does. @returns its status; null: it did not run, or a signal ended it */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends everything and removes the folder. @returns the processes that were left */
  async remove(): Promise<string[]> {
    await Promise.all(this.#opened.splice(0).map((pool) => pool.end()));
    await this.stop();
    const left = processesOn(this.home);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
    rmSync(this.#logFile, { force: true });
    return left.map(({ command }) => command);
  }

  /** of the worker processes running now */
  workers(): number[] {
    return processesOn(this.home)
      .filter(({ parent, command }) => parent === this.pid && command.includes('apps/worker/'))
      .map(({ pid }) => pid);
  }

  /** of the embedded Postgres running now; null: none is */
  postgres(): { pid: number; port: number } | null {
    const pidFile = join(this.home, 'postgres', 'postmaster.pid');
    const [pid, , , port] = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').split('\n') : [];
    return pid && port ? { pid: Number(pid), port: Number(port) } : null;
  }

  get databaseUrl(): string {
    if (this.#databaseUrl) return this.#databaseUrl;
    const password = readFileSync(join(this.home, 'database-password'), 'utf8').trim();
    return `postgres://recredit:${password}@127.0.0.1:${this.postgres()?.port}/recredit`;
  }

  /** To the database that it has now, as the platform sees it. Closed by `remove`. */
  pool(): Pool {
    const pool = openPool(this.databaseUrl, { role: 'recredit_app', projects: '*', size: 3, applicationName: 'e2e' });
    this.#opened.push(pool);
    return pool;
  }

  /** To the same, as its owner, whom nothing holds back. Closed by `remove`. */
  ownerPool(): Pool {
    const pool = openPool(this.databaseUrl, { size: 1, applicationName: 'e2e' });
    this.#opened.push(pool);
    return pool;
  }

  store(): Promise<SegmentStore> {
    return openSegmentStore(this.#segments ?? pathToFileURL(join(this.home, 'segments')).href);
  }

  /** The data of an answer without errors. */
  // whatever the query asks for
  // oxlint-disable-next-line typescript/no-explicit-any
  async ask(query: string, variables: object = {}, key = this.key): Promise<any> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    // oxlint-disable-next-line typescript/no-explicit-any
    const { data, errors } = JSON.parse(text) as { data: any; errors?: unknown[] };
    if (errors) throw new Error(`${query}: ${text}`);
    return data;
  }

  log(): string {
    return existsSync(this.#logFile) ? readFileSync(this.#logFile, 'utf8').slice(-4000) : '';
  }

  async #isReady(): Promise<boolean> {
    if (!existsSync(join(this.home, 'first-key'))) return false;
    return fetch(`${this.url}/readyz`, { headers: { authorization: `Bearer ${this.key}` } }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  get #logFile(): string {
    return `${this.home}.log`;
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  }
}

/** Looks every few milliseconds until it is so. */
export async function until(what: string, ms: number, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(25)) if (await isSo()) return;
  throw new Error(`it did not come about in ${ms / 1000} s that ${what}`);
}

export async function aFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
