import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openPool, openSegmentStore, type Pool } from '#lib/storage';
import type { Ground } from './intact.js';
import { processesOn } from './processes.js';
import { ServedPlatform, until } from './served-platform.js';
import { SmallDisk } from './small-disk.js';
import { TcpProxy } from './tcp-proxy.js';

const CLOCK = join(import.meta.dirname, 'clock-steps.mjs');
const WORKERS = { first: 2, second: 1 };

/**
 * Two API processes and three workers on one database, which is the embedded Postgres of the first, behind a proxy that
 * stands for the network. Database, segments and spools may each lie on a disk of their own that can be filled.
 */
export class Cluster {
  readonly disks: { readonly database: SmallDisk; readonly segments: SmallDisk; readonly spool: SmallDisk } | null;
  readonly #folder = mkdtempSync(join(tmpdir(), 'recredit-cluster-'));
  #databaseUrl = '';
  #pools = new Map<string, { readonly pool: Pool; readonly owner: Pool }>();

  private constructor(
    readonly first: ServedPlatform,
    readonly second: ServedPlatform,
    readonly proxy: TcpProxy,
    withDisks: boolean,
  ) {
    mkdirSync(join(this.#folder, 'ledgers'));
    this.disks = withDisks
      ? {
          database: SmallDisk.mount(first.home),
          segments: SmallDisk.mount(this.segments),
          spool: SmallDisk.mount(this.spool),
        }
      : null;
  }

  static async start({ withDisks }: { withDisks: boolean }): Promise<Cluster> {
    const [first, second] = [await ServedPlatform.prepare(), await ServedPlatform.prepare()];
    const cluster = new Cluster(first, second, await TcpProxy.start([first.port, second.port]), withDisks);
    try {
      await cluster.startAll();
      return cluster;
    } catch (error) {
      await cluster.remove();
      throw error;
    }
  }

  get segments(): string {
    return join(this.#folder, 'segments');
  }

  get spool(): string {
    return join(this.#folder, 'spool');
  }

  /** Of a writer: on no disk that can be filled. */
  ledger(name: string): string {
    return join(this.#folder, 'ledgers', name);
  }

  /** Sets the wall clocks of all processes but Postgres off by so much, a moment later. */
  setClocks(offsetMs: number): void {
    writeFileSync(this.#clock, String(offsetMs));
  }

  /** of a process of this cluster's that a test starts: its clock is set with theirs */
  get environment(): Record<string, string> {
    return { NODE_OPTIONS: `--import=${pathToFileURL(CLOCK).href}`, RECREDIT_TEST_CLOCK: this.#clock };
  }

  /** Starts what does not run. The second one follows the first one's database to the port it has now. */
  async startAll(): Promise<void> {
    await this.startFirst();
    await this.startSecond();
  }

  async startFirst(): Promise<void> {
    if (isRunning(this.first)) return;
    const environment = { ...this.environment, RECREDIT_SEGMENTS: `file:${this.segments}` };
    await this.first.start({ workers: WORKERS.first, environment });
  }

  async startSecond(): Promise<void> {
    const { databaseUrl } = this.first;
    if (isRunning(this.second) && this.second.databaseUrl === databaseUrl) return;
    await this.second.stop();
    writeFileSync(join(this.second.home, 'first-key'), this.first.key);
    const environment = {
      ...this.environment,
      RECREDIT_SEGMENTS: `file:${this.segments}`,
      RECREDIT_DATABASE_URL: databaseUrl,
    };
    await this.second.start({ workers: WORKERS.second, environment });
  }

  get platforms(): readonly ServedPlatform[] {
    return [this.first, this.second];
  }

  /** of every worker process running now */
  workers(): number[] {
    return this.platforms.flatMap((platform) => platform.workers());
  }

  async allWorkersAreBack(): Promise<void> {
    const all = WORKERS.first + WORKERS.second;
    await until('all workers are back', 180_000, () => this.workers().length === all);
  }

  /** Whether the database answers. */
  async answers(): Promise<boolean> {
    return this.pools()
      .pool.query('select 1')
      .then(
        () => true,
        () => false,
      );
  }

  pools(): { readonly pool: Pool; readonly owner: Pool } {
    if (this.first.postgres()) this.#databaseUrl = this.first.databaseUrl;
    const url = this.#databaseUrl;
    const opened = this.#pools.get(url) ?? {
      pool: openPool(url, { role: 'recredit_app', projects: '*', size: 3, applicationName: 'faults' }),
      owner: openPool(url, { size: 3, applicationName: 'faults' }),
    };
    this.#pools.set(url, opened);
    return opened;
  }

  async ground(): Promise<Ground> {
    return {
      platform: this.first,
      ...this.pools(),
      store: await openSegmentStore(pathToFileURL(this.segments).href),
    };
  }

  /** @returns the processes that were left */
  async remove(): Promise<string[]> {
    await this.proxy.close();
    for (const disk of Object.values(this.disks ?? {})) disk.makeRoom();
    for (const { pool, owner } of this.#pools.values()) await Promise.all([pool.end(), owner.end()]);
    await this.second.stop();
    await this.first.stop();
    const left = processesOn(this.first.home);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    for (const disk of Object.values(this.disks ?? {})) disk.unmount();
    left.push(...(await Promise.all(this.platforms.map((platform) => platform.remove()))).flat().map(asLeft));
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
    return left.map(({ command }) => command);
  }

  get #clock(): string {
    return join(this.#folder, 'clock');
  }
}

const asLeft = (command: string) => ({ pid: 0, parent: 0, command });

function isRunning({ pid }: ServedPlatform): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
