import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Connection } from './platform-client.js';

export interface ConnectionSettings {
  /** of the platform; default RECREDIT_URL, else http://127.0.0.1:4000 */
  readonly url?: string | undefined;
  /** default RECREDIT_API_KEY, else the first key in RECREDIT_HOME */
  readonly apiKey?: string | undefined;
  /** of one request; default 30 s */
  readonly timeoutMs?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the platform is. What the caller says goes before the environment. */
export function connectionOf(given: ConnectionSettings, environment: Environment = process.env): Connection {
  const url = given.url ?? (environment.RECREDIT_URL || 'http://127.0.0.1:4000');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new TypeError(`url: expected http(s)://host:port, found ${url}`);
  }
  const apiKey = given.apiKey ?? (environment.RECREDIT_API_KEY || firstKey(environment));
  return { url: url.replace(/\/+$/, ''), apiKey, ...(given.timeoutMs ? { timeoutMs: given.timeoutMs } : {}) };
}

export function spoolRoot(given: string | undefined, environment: Environment = process.env): string {
  return resolve(given ?? (environment.RECREDIT_SPOOL || join(homeOf(environment), 'spool')));
}

/** Where the platform, when it runs on this machine, keeps the key it made at its first start. */
function firstKey(environment: Environment): string | null {
  try {
    return readFileSync(join(homeOf(environment), 'first-key'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function homeOf(environment: Environment): string {
  return environment.RECREDIT_HOME || '.recredit';
}
