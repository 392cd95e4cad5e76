import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
import { openPool } from './pool.js';
import { embeddedBinaries } from './postgres-binaries.js';
import { accountFor, launchAs } from './server-account.js';

const root = process.getuid?.() === 0;
/** some containers do not give root CAP_SETPCAP */
const setsSecurebits =
  root &&
  (BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]}`) & (1n << 8n)) > 0n;
const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).toReversed()) await undo();
});

async function aHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'recredit-home-'));
  cleanup.push(() => rm(home, { recursive: true, force: true, maxRetries: 10 }));
  return home;
}

async function aServer(home: string, options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ home, port: 0, durable: false, ...options });
  cleanup.push(() => server.stop());
  return server;
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const pool = openPool(url, { size: 1 });
  try {
    return (await pool.query(sql)).rows;
  } finally {
    await pool.end();
  }
}

/** Another process that has started the database of the home. */
async function aPlatform(home: string, ending = 'wait', command: readonly string[] = []) {
  const script = new URL('../../../test/support/embedded-platform.ts', import.meta.url).pathname;
  const loader = new URL('../../../test/support/register-libs.mjs', import.meta.url).href;
  const [file, ...args] = [...command, process.execPath, '--import', loader, script, home, ending];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
  cleanup.push(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const [server] = (await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error(`the platform ended early: ${said}`))),
  ])) as [{ url: string; pid: number }];
  return { child, server, ended, said: () => said };
}

/** Not a zombie either: in a container nobody may collect what lost its parent. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const gone = (pid: number) => expect.poll(() => isRunning(pid), { timeout: 15_000 }).toBe(false);

describe('the embedded Postgres', () => {
  it('starts in a folder that is closed to others, and keeps its data and its secret', async () => {
    const home = join(await aHome(), 'deep', 'home');
    const first = await aServer(home, { durable: true });
    await ask(first.url, `create table kept as select 42 as answer`);
    await first.stop();
    const second = await aServer(home, { durable: true });
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    const settings = `select name, setting from pg_settings
      where name in ('fsync', 'listen_addresses', 'full_page_writes', 'synchronous_commit', 'TimeZone', 'data_checksums') order by 1`;
    expect((await ask(second.url, settings)).map((row) => Object.values(row as object).join(' '))).toEqual([
      'TimeZone UTC',
      'data_checksums on',
      'fsync on',
      'full_page_writes on',
      'listen_addresses 127.0.0.1',
      'synchronous_commit on',
    ]);
    expect((await stat(join(home, 'database-password'))).mode & 0o777).toBe(0o600);
    expect(existsSync(join(home, 'postgres.secret'))).toBe(false);
    await expect(ask(second.url.replace(/:[0-9a-f]+@/, ':wrong@'), 'select 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  // A checkout below /root: initdb asks access(2) for the programs beside it.
  it.runIf(setsSecurebits)('finds its programs in a folder that is closed to others', async () => {
    const program = join(await aHome(), 'closed', 'program');
    await mkdir(dirname(program), { mode: 0o700 });
    await writeFile(program, '', { mode: 0o755 });
    const { command, ids } = await launchAs(await accountFor(join(program, 'no-data-yet')), [
      program,
      process.execPath,
    ]);
    const asks = `require('node:fs').accessSync(process.argv[1], require('node:fs').constants.X_OK)`;
    const [first, ...rest] = [...command, process.execPath, '-e', asks, program];
    execFileSync(first, rest, ids);
  });

  it('takes another port when somebody has the wanted one', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    cleanup.push(() => other.close());
    const { port } = other.address() as AddressInfo;
    const server = await aServer(await aHome(), { port });
    expect(Number(new URL(server.url).port)).not.toBe(port);
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('takes the wanted port when it is free', async () => {
    const home = await aHome();
    const { url } = await aServer(home);
    const port = Number(new URL(url).port);
    await cleanup.pop()?.();
    expect(Number(new URL((await aServer(home, { port })).url).port)).toBe(port);
  });

  it('is of one platform at a time: the second is told which home, the first goes on', async () => {
    const home = await aHome();
    const { server } = await aPlatform(home);
    await expect(startEmbeddedPostgres({ home })).rejects.toMatchObject({
      code: 'config.invalid',
      message: expect.stringContaining(home),
    });
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('lets two platforms that start at the same time sort it out', async () => {
    const home = await aHome();
    const both = await Promise.allSettled([1, 2].map(() => aServer(home)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('clears away a database that was only half made', async () => {
    const home = await aHome();
    await mkdir(join(home, 'postgres.new', 'base'), { recursive: true });
    await writeFile(join(home, 'postgres.secret'), 'old');
    expect(await ask((await aServer(home)).url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect([existsSync(join(home, 'postgres.new')), existsSync(join(home, 'postgres.secret'))]).toEqual([false, false]);
  });

  it('says where the log is about what does not start', async () => {
    const home = await aHome();
    await (await aServer(home)).stop();
    await writeFile(join(home, 'postgres', 'postgresql.conf'), 'nonsense here');
    await expect(aServer(home)).rejects.toThrow(/did not start: [^]*nonsense/);
  });
});

describe('when the platform ends', () => {
  it.each([
    ['by stopping it', 'stop', null],
    ['by process.exit', 'exit', null],
    ['by an error that nobody catches', 'throw', null],
    ['by Ctrl-C', 'wait', 'SIGINT'],
    ['by kill', 'wait', 'SIGTERM'],
    ['by kill, with a handler of its own', 'handler', 'SIGTERM'],
    ['by kill -9', 'wait', 'SIGKILL'],
  ] as const)('%s, no server is left, and the next one starts', async (_, ending, signal) => {
    const home = await aHome();
    const { child, server, ended, said } = await aPlatform(home, ending);
    if (signal) {
      await ask(server.url, 'create table committed ()');
      child.kill(signal);
    }
    const [code, died] = await ended;
    expect([code, died]).toEqual(
      { stop: [0, null], exit: [3, null], throw: [1, null], wait: [null, signal], handler: [0, null] }[ending],
    );
    await gone(server.pid);
    if (ending !== 'throw') expect(said()).toBe('');
    const next = await aServer(home);
    if (signal) expect(await ask(next.url, 'select * from committed')).toEqual([]);
  });
});

describe('after an accident', () => {
  it('takes over from a server that was left running', async () => {
    const home = await aHome();
    const dataDir = join(home, 'postgres');
    const { url } = await aServer(home);
    await ask(url, 'create table committed ()');
    await cleanup.pop()?.();
    const { uid, gid } = await stat(dataDir);
    await chmod(home, 0o711);
    const { postgres } = await embeddedBinaries();
    const port = new URL(url).port;
    const orphan = spawn(postgres, ['-D', dataDir, '-p', port, '-c', 'unix_socket_directories='], {
      ...(root ? { uid, gid } : {}),
      stdio: 'ignore',
    });
    await expect
      .poll(() => ask(url, 'select 1'), { timeout: 10_000 })
      .toHaveLength(1)
      .catch(() => {});
    const next = await aServer(home);
    expect(isRunning(orphan.pid ?? 0)).toBe(false);
    expect(await ask(next.url, 'select * from committed')).toEqual([]);
  });

  it('does not mind a pid file whose number is somebody else by now', async () => {
    const home = await aHome();
    await (await aServer(home)).stop();
    const { uid, gid } = await stat(join(home, 'postgres'));
    // of the server's own user: Postgres would see by itself that another user's process is none of its own
    const bystander = spawn('sleep', ['60'], root ? { uid, gid } : {});
    cleanup.push(() => bystander.kill());
    await writeFile(
      join(home, 'postgres', 'postmaster.pid'),
      `${bystander.pid}\n${home}/postgres\n0\n0\n\n127.0.0.1\n0 0\nready   \n`,
    );
    if (root) execFileSync('chown', [`${uid}:${gid}`, join(home, 'postgres', 'postmaster.pid')]);
    expect(await ask((await aServer(home)).url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(isRunning(bystander.pid ?? 0)).toBe(true);
  });

  it('brings a server back that was killed under it, at the same address, with what was committed', async () => {
    const server = await aServer(await aHome());
    await ask(server.url, 'create table committed ()');
    const before = server.pid();
    process.kill(before, 'SIGKILL');
    await expect
      .poll(() => ask(server.url, 'select * from committed').catch(() => null), { timeout: 20_000 })
      .toEqual([]);
    expect(server.pid()).not.toBe(before);
  });

  it('is told of a server that does not come up, and brings it back when it can', async () => {
    const home = await aHome();
    const failures: string[] = [];
    const server = await aServer(home, { onFailure: ({ message }) => failures.push(message) });
    await ask(server.url, 'create table committed ()');
    const [there, away] = ['global/pg_control', 'away'].map((name) => join(home, 'postgres', name));
    await rename(there, away);
    process.kill(server.pid(), 'SIGKILL');
    await expect.poll(() => failures, { timeout: 30_000 }).toHaveLength(1);
    expect(failures[0]).toMatch(/dies as soon as it starts .*postgres\.log/);
    await rename(away, there);
    await expect
      .poll(() => ask(server.url, 'select * from committed').catch(() => null), { timeout: 30_000 })
      .toEqual([]);
    expect(failures).toHaveLength(1);
  });

  it('can be stopped while it comes back', async () => {
    const server = await aServer(await aHome());
    process.kill(server.pid(), 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 30));
    await server.stop();
    await gone(server.pid());
  });
});

describe.runIf(root)('as another user than root', () => {
  it('runs as that user', async () => {
    const home = await aHome();
    execFileSync('chown', ['nobody', home]);
    const nobody = ['setpriv', '--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups', '--'];
    const { server, child, ended } = await aPlatform(home, 'wait', nobody);
    expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    child.kill('SIGTERM');
    await ended;
    await gone(server.pid);
  });
});
