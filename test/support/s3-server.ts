import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Proxy } from './s3-proxy.js';
import { aFreePort, until } from './served-platform.js';

/** What the AWS SDK reads; this server takes any key. */
export const S3_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** How a store reaches a bucket. */
interface Place {
  readonly bucket: string;
  readonly prefix?: string;
  readonly endpoint?: string;
  readonly cache?: { readonly folder: string; readonly bytes: number };
}

const PROGRAM = 'moto_server';
const START_MS = 60_000;
let isThere: boolean | undefined;

/** Whether an S3 server can be had: that of moto (PyPI), which CI installs. */
export function hasS3Server(): boolean {
  try {
    isThere ??= execFileSync(PROGRAM, ['--help'], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
  } catch {
    isThere = false;
  }
  return isThere;
}

export const s3Title = (what: string) =>
  hasS3Server() ? what : `${what} (skipped: no ${PROGRAM}; libs/sdk-python/tests/requirements.txt has it)`;

/** An S3 server in memory, and a proxy in front of it that can break requests. */
export class S3Server {
  #buckets = 0;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly proxy: S3Proxy,
  ) {}

  static async start(): Promise<S3Server> {
    const port = await aFreePort();
    const child = spawn(PROGRAM, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const url = `http://127.0.0.1:${port}`;
    await until('the S3 server answers', START_MS, async () => {
      if (child.exitCode !== null) throw new Error(`${PROGRAM} ended with status ${child.exitCode}`);
      return fetch(`${url}/moto-api/data.json`).then(
        ({ ok }) => ok,
        () => sleep(50, false),
      );
    });
    Object.assign(process.env, S3_ENVIRONMENT);
    return new S3Server(child, url, await S3Proxy.start(port));
  }

  /** Makes a bucket. @returns where a store finds it */
  async bucket({ versioned = false, ...place }: Partial<Place> & { versioned?: boolean } = {}): Promise<string> {
    const { bucket = `bucket-${++this.#buckets}` } = place;
    await this.#ask(bucket, '');
    if (versioned) {
      const status = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
      await this.#ask(bucket, status, '?versioning');
    }
    return this.placeOf({ bucket, ...place });
  }

  /** A bucket that need not be there, seen through the proxy unless an endpoint is said. */
  placeOf({ bucket, prefix = '', endpoint = this.proxy.url, cache }: Place): string {
    const asked = new URLSearchParams({ endpoint, pathStyle: 'true' });
    if (cache) asked.set('cache', cache.folder);
    if (cache) asked.set('cacheBytes', String(cache.bytes));
    return `s3://${bucket}/${prefix}?${asked.toString()}`;
  }

  async stop(): Promise<void> {
    await this.proxy.close();
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  async #ask(bucket: string, body: string, query = ''): Promise<void> {
    // moto asks for the shape of a signature, as the sign that S3 is meant
    const authorization =
      'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0';
    const answer = await fetch(`${this.url}/${bucket}${query}`, { method: 'PUT', body, headers: { authorization } });
    if (!answer.ok) throw new Error(`${bucket}: ${await answer.text()}`);
  }
}
