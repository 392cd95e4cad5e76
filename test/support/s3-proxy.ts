import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What becomes of the next request with the method, or of any. */
export type S3Fault = { readonly method?: string } & (
  | { readonly kind: 'refused'; readonly status: number; readonly code: string }
  /** the connection to the server breaks after so many bytes of the request's body */
  | { readonly kind: 'request-cut'; readonly afterBytes: number }
  /** that to the client after so many of the answer's */
  | { readonly kind: 'answer-cut'; readonly afterBytes: number }
  /** done, and nobody hears of it */
  | { readonly kind: 'answer-lost' }
  | { readonly kind: 'slow'; readonly ms: number }
  /** one bit of the answer's body */
  | { readonly kind: 'answer-changed' }
  /** and of the request's */
  | { readonly kind: 'request-changed' }
);

/** Stands between a store and an S3 server, and breaks requests in the ways that networks and services do. */
export class S3Proxy {
  /** of the requests to come, the oldest first */
  readonly faults: S3Fault[] = [];
  /** that came, as `GET /bucket/key` */
  readonly requests: string[] = [];
  isDown = false;
  /** requests that came while it was down */
  missed = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {}

  static async start(target: number): Promise<S3Proxy> {
    const server = createServer();
    const proxy = new S3Proxy(server, target);
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => {
      proxy.#pass(asked, answer).catch(() => answer.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (this.isDown) {
      this.missed++;
      return void asked.destroy();
    }
    this.requests.push(`${asked.method} ${asked.url}`);
    const nth = this.faults.findIndex(({ method = asked.method }) => method === asked.method);
    const [fault] = nth < 0 ? [] : this.faults.splice(nth, 1);
    const body = Buffer.concat(await asked.toArray());
    if (fault?.kind === 'refused') {
      answer.writeHead(fault.status, { 'content-type': 'application/xml' });
      return void answer.end(`<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>no</Message></Error>`);
    }
    if (fault?.kind === 'slow') await sleep(fault.ms);
    const { method, url: path, headers } = asked;
    const upstream = request({ host: '127.0.0.1', port: this.target, method, path, headers });
    const lost = once(upstream, 'close');
    if (fault?.kind === 'request-cut') {
      upstream.on('error', () => {});
      upstream.write(body.subarray(0, fault.afterBytes), () => upstream.destroy());
      await lost;
      return void answer.destroy();
    }
    upstream.end(fault?.kind === 'request-changed' ? changed(body) : body);
    const [found] = (await once(upstream, 'response')) as [IncomingMessage];
    const content = Buffer.concat(await found.toArray());
    if (fault?.kind === 'answer-lost') return void answer.destroy();
    answer.writeHead(found.statusCode ?? 500, found.headers);
    if (fault?.kind === 'answer-cut') {
      return void answer.write(content.subarray(0, fault.afterBytes), () => answer.destroy());
    }
    answer.end(fault?.kind === 'answer-changed' ? changed(content) : content);
  }
}

function changed(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[other.length >> 1] ^= 1;
  return other;
}
