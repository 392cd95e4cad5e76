import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { noAnswer, outcomeOf, type Outcome } from './problem.js';

export interface Connection {
  readonly url: string;
  readonly apiKey: string | null;
  /** of one request, in milliseconds */
  readonly timeoutMs?: number;
}

export interface NewRun {
  readonly project: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string;
}

export interface OutgoingBatch {
  readonly run: string;
  readonly producer: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly lines: Uint8Array;
}

export interface Stored {
  readonly firstPosition: number;
  readonly eventCount: number;
  readonly duplicate: boolean;
}

type Codec = 'zstd' | 'gzip' | 'identity';
const gzip = promisify(zlib.gzip);
const TIMEOUT_MS = 30_000;

/** The two requests that a trainer makes. Answers are sorted by what to do about them; nothing throws. */
export class PlatformClient {
  private codec: Codec = typeof zlib.zstdCompress === 'function' ? 'zstd' : 'gzip';

  constructor(private readonly connection: Connection) {}

  get url(): string {
    return this.connection.url;
  }

  createRun({ idempotencyKey, ...body }: NewRun, signal: AbortSignal): Promise<Outcome<string>> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey };
    return this.post('/v1/runs', headers, JSON.stringify(body), signal, (answer) =>
      typeof answer.id === 'string' ? answer.id : null,
    );
  }

  async append(batch: OutgoingBatch, signal: AbortSignal): Promise<Outcome<Stored>> {
    const headers = {
      'content-type': 'application/x-ndjson',
      'content-encoding': this.codec,
      'recredit-producer': batch.producer,
      'recredit-epoch': String(batch.epoch),
      'recredit-sequence': String(batch.sequence),
    };
    const body = await compress(batch.lines, this.codec);
    const outcome = await this.post(
      `/v1/runs/${encodeURIComponent(batch.run)}/events`,
      headers,
      body,
      signal,
      storedOf,
    );
    if (outcome.kind !== 'blocked' || outcome.problem.status !== 415 || this.codec === 'identity') return outcome;
    this.codec = this.codec === 'zstd' ? 'gzip' : 'identity';
    return this.append(batch, signal);
  }

  private async post<T>(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
    read: (answer: Record<string, unknown>) => T | null,
  ): Promise<Outcome<T>> {
    const { url, apiKey, timeoutMs = TIMEOUT_MS } = this.connection;
    try {
      const response = await fetch(url.replace(/\/+$/, '') + path, {
        method: 'POST',
        headers: { ...headers, accept: 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const text = await response.text();
      if (!response.ok) return outcomeOf(response.status, text, response.headers.get('retry-after'), Date.now());
      const value = read(JSON.parse(text) as Record<string, unknown>);
      return value === null
        ? noAnswer(`an answer that is not the platform's: ${text.slice(0, 200)}`)
        : { kind: 'done', value };
    } catch (error) {
      return noAnswer(error);
    }
  }
}

function storedOf({ firstPosition, eventCount, duplicate }: Record<string, unknown>): Stored | null {
  if (typeof firstPosition !== 'number' || typeof eventCount !== 'number') return null;
  return { firstPosition, eventCount, duplicate: duplicate === true };
}

async function compress(lines: Uint8Array, codec: Codec): Promise<Uint8Array<ArrayBuffer>> {
  if (codec === 'zstd') return promisify(zlib.zstdCompress)(lines);
  if (codec === 'gzip') return gzip(lines);
  return Uint8Array.from(lines);
}
