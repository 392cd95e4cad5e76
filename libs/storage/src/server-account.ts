import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RecreditError } from '#lib/kernel';

/** The unprivileged user a server runs as. null: as ourselves, who are not root. */
export type ServerAccount = { readonly uid: number; readonly gid: number } | null;

/** How to start a program as that account: put `command` in front of it, and `ids` into spawn's options. */
export interface Launch {
  readonly command: readonly string[];
  readonly ids: { uid?: number; gid?: number };
}

const isRoot = () => process.getuid?.() === 0;

/** PostgreSQL refuses to run as root: it gets the owner of what is there already, else `postgres`, else `nobody`. */
export async function accountFor(dataDir: string): Promise<ServerAccount> {
  if (!isRoot()) return null;
  const owner = await stat(dataDir).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!user)
    throw new RecreditError(
      'config.invalid',
      'running as root, and there is no user postgres or nobody to run the database as',
    );
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/**
 * How to run programs that must reach `paths` as the account.
 *
 * A home below /root, or in a folder made by mktemp, is closed to any other user. The server is then given the one
 * capability of walking through such folders, so that no permission on the user's own folders is changed. The server
 * is also told to shut down when we die, however we die.
 */
export async function launchAs(account: ServerAccount, paths: readonly string[]): Promise<Launch> {
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => process.platform === 'linux' && existsSync(path));
  const closed = account ? await firstClosedFolder(account, paths) : null;
  if (!setpriv) {
    if (closed) throw closedTo(account, closed);
    return { command: [], ids: account ?? {} };
  }
  const command = [setpriv, '--pdeathsig', 'INT'];
  if (account) command.push('--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups');
  if (closed) {
    const effective = await effectiveCapabilities();
    const capability = walkingCapability(effective);
    if (!capability) throw closedTo(account, closed);
    command.push('--inh-caps', `+${capability}`, '--ambient-caps', `+${capability}`);
    // access(2), by which PostgreSQL looks for its own programs, forgets capabilities of a user who is not root
    if (effective & CAP_SETPCAP) command.push('--securebits', '+no_setuid_fixup');
  }
  return { command: [...command, '--'], ids: {} };
}

function closedTo(account: ServerAccount, folder: string): RecreditError {
  return new RecreditError(
    'config.invalid',
    `the database server runs as user ${account?.uid} and cannot pass through ${folder}: ` +
      `set RECREDIT_HOME to a folder it can reach, or allow it with: chmod o+x ${folder}`,
  );
}

/** The first folder on the way to any of the paths that the account may not pass. */
async function firstClosedFolder(
  account: { uid: number; gid: number },
  paths: readonly string[],
): Promise<string | null> {
  for (const path of paths) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const { uid, gid, mode } = await stat(folder);
      const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
      if (((mode >> shift) & 1) === 0) return folder;
      if (folder === dirname(folder)) break;
    }
  }
  return null;
}

const CAP_DAC_OVERRIDE = 1n << 1n;
const CAP_DAC_READ_SEARCH = 1n << 2n;
const CAP_SETPCAP = 1n << 8n;

/** Ours, a bit each (capabilities(7)). */
async function effectiveCapabilities(): Promise<bigint> {
  const status = await readFile('/proc/self/status', 'utf8');
  return BigInt(`0x${status.match(/^CapEff:\s*([0-9a-f]+)/m)?.[1] ?? '0'}`);
}

/** Containers often give root only the stronger of the two. */
function walkingCapability(effective: bigint): string | null {
  if (effective & CAP_DAC_READ_SEARCH) return 'dac_read_search';
  return effective & CAP_DAC_OVERRIDE ? 'dac_override' : null;
}
