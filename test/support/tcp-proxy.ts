import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to the next request that begins on any connection. */
export type ConnectionFault =
  /** both sides are cut after so many more bytes, whichever way they go */
  | { readonly kind: 'torn'; readonly afterBytes: number }
  /** the request arrives whole, its answer comes and goes no further */
  | { readonly kind: 'answer-lost' }
  /** what the client says waits on its way */
  | { readonly kind: 'delayed'; readonly ms: number }
  /** the request arrives a second time, later, over another connection */
  | { readonly kind: 'doubled'; readonly afterMs: number };

/** Stands between clients and servers as a network does: it knows bytes and connections, and nothing of HTTP. */
export class TcpProxy {
  /** of the requests to come, the oldest first */
  readonly faults: ConnectionFault[] = [];
  /** what came about, in connections cut, answers swallowed, and doubled batches that the log recognised */
  readonly seen = { torn: 0, lost: 0, recognised: 0 };
  readonly #sockets = new Set<Socket>();
  readonly #background = new Set<Promise<void>>();
  #isCut = false;
  #connections = 0;

  private constructor(
    private readonly server: Server,
    private readonly targets: readonly number[],
  ) {}

  /** @param targets ports that connections go to in turn */
  static async start(targets: readonly number[]): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, targets);
    server.on('connection', (client) => proxy.#accept(client));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Nothing gets through until `mend`. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  /** Returns when what was to arrive a second time has done so. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  async close(): Promise<void> {
    this.cut();
    await this.settled();
    this.server.close();
    await once(this.server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#isCut) return void client.destroy();
    const upstream = this.#connect();
    this.#hold(client);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);

    let fault: ConnectionFault | undefined;
    let begins = true;
    let left = Infinity;
    let request: Buffer[] = [];
    let sending: Promise<unknown> = Promise.resolve();
    /** @returns what is still let through */
    const allowed = (chunk: Buffer) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      return part;
    };
    client.on('data', (chunk: Buffer) => {
      if (begins) {
        fault = this.faults.shift();
        if (fault?.kind === 'torn') left = fault.afterBytes;
        if (fault?.kind === 'delayed') sending = sleep(fault.ms);
        request = [];
      }
      begins = false;
      if (fault?.kind === 'doubled') request.push(chunk);
      const part = allowed(chunk);
      sending = sending.then(() => !upstream.destroyed && upstream.write(part));
      if (left > 0) return;
      this.seen.torn++;
      void sending.then(() => setImmediate(end));
    });
    upstream.on('data', (chunk: Buffer) => {
      if (fault?.kind === 'answer-lost') {
        this.seen.lost++;
        return end();
      }
      if (fault?.kind === 'doubled' && !begins) this.#again(Buffer.concat(request), fault.afterMs);
      begins = true;
      client.write(allowed(chunk));
      if (left > 0) return;
      this.seen.torn++;
      client.end(() => end());
    });
  }

  #connect(): Socket {
    const port = this.targets[this.#connections++ % this.targets.length];
    const upstream = connect(port, '127.0.0.1');
    this.#hold(upstream);
    return upstream;
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {}); // its close says all that matters
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #again(request: Buffer, afterMs: number): void {
    const sent = (async () => {
      await sleep(afterMs);
      const upstream = this.#connect();
      upstream.write(request);
      const answer = new Promise<string>((resolve) => upstream.once('data', (chunk: Buffer) => resolve(String(chunk))));
      const said = await Promise.race([answer, once(upstream, 'close').then(String), sleep(5_000, '')]);
      if (said.includes('"duplicate":true')) this.seen.recognised++;
      upstream.destroy();
    })();
    this.#background.add(sent);
    void sent.catch(() => {}).finally(() => this.#background.delete(sent));
  }
}
