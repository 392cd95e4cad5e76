import { checkBatch, type RunEvent } from '#lib/protocol';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

/** What goes wrong with one request. `lost`: it is done, and the connection dies before the answer. */
export type Fault = 'dropped' | 'lost' | 'torn' | 'busy' | 'down' | 'forbidden' | 'unwanted';

interface StoredBatch {
  readonly epoch: number;
  readonly sha256: string;
  readonly firstPosition: number;
  readonly events: readonly RunEvent[];
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

/** The platform's two endpoints for producers over plain HTTP, with the log's rules kept in memory, and its bad days. */
export interface FakePlatform {
  readonly url: string;
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[];
  /** taken one per request to the events endpoint, in order */
  readonly faults: (Fault | null)[];
  events(name: string): RunEvent[];
  /** by producer, the number of events of each batch */
  cuts(name: string): Record<string, number[]>;
  /** forgets a producer's batches from this sequence on, as a server restored from a backup has */
  forget(name: string, sequence: number): void;
  close(): Promise<void>;
}

export async function fakePlatform(port = 0): Promise<FakePlatform> {
  const runs = new Map<string, Map<string, StoredBatch[]>>();
  const requests: FakePlatform['requests'] = [];
  const faults: (Fault | null)[] = [];
  let position = 0;

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push({ path: request.url!, headers: request.headers });
    const body = Buffer.concat(await request.toArray());
    const isAppend = request.url!.endsWith('/events');
    const fault = isAppend ? (faults.shift() ?? null) : null;
    if (fault === 'dropped') return void response.destroy();
    const refused = faultAnswer(fault);
    const answer = refused ?? (isAppend ? append(request, body) : create(body));
    if (fault === 'lost') return void response.destroy();
    const text = JSON.stringify(answer.body);
    response.writeHead(answer.status, {
      'content-type': answer.status < 400 ? 'application/json' : 'application/problem+json',
      'content-length': Buffer.byteLength(text),
      ...answer.headers,
    });
    if (fault !== 'torn') return void response.end(text);
    response.write(text.slice(0, 9), () => response.destroy());
  }

  function create(body: Buffer): Answer {
    const { project, name } = JSON.parse(body.toString()) as { project: string; name: string };
    const status = runs.has(name) ? 200 : 201;
    if (status === 201) runs.set(name, new Map());
    return { status, body: { id: name, project, name, position } };
  }

  function append({ url, headers }: IncomingMessage, body: Buffer): Answer {
    const producers = runs.get(decodeURIComponent(url!.split('/')[3]));
    if (!producers) return problem(404, 'run.unknown');
    const lines = headers['content-encoding'] === 'zstd' ? zstdDecompressSync(body) : gunzipSync(body);
    const producer = String(headers['recredit-producer']);
    const epoch = Number(headers['recredit-epoch']);
    const sequence = Number(headers['recredit-sequence']);
    const batches = producers.get(producer) ?? [];
    const sha256 = createHash('sha256').update(lines).digest('hex');

    let events: RunEvent[];
    try {
      events = checkBatch(lines);
    } catch (error) {
      return problem(422, 'events.invalid', { detail: (error as Error).message });
    }
    const twin = batches[sequence];
    const last = batches.at(-1);
    if (last && epoch < last.epoch) return problem(409, 'producer.fenced');
    if (twin && twin.sha256 !== sha256) return problem(409, 'batch.conflicting', { eventCount: twin.events.length });
    if (twin) return stored(twin, true);
    if (sequence !== batches.length) return problem(409, 'sequence.unexpected', { expected: batches.length });
    const batch = { epoch, sha256, firstPosition: position, events };
    producers.set(producer, [...batches, batch]);
    position += events.length;
    return stored(batch, false);
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    faults,
    events: (name) =>
      [...(runs.get(name)?.values() ?? [])]
        .flat()
        .toSorted((a, b) => a.firstPosition - b.firstPosition)
        .flatMap((batch) => batch.events),
    cuts: (name) =>
      Object.fromEntries(
        [...runs.get(name)!].map(([id, batches]) => [id, batches.map((batch) => batch.events.length)]),
      ),
    forget(name, sequence) {
      for (const [id, batches] of runs.get(name)!) runs.get(name)!.set(id, batches.slice(0, sequence));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function stored({ firstPosition, events }: StoredBatch, duplicate: boolean): Answer {
  return { status: 200, body: { firstPosition, eventCount: events.length, duplicate } };
}

function faultAnswer(fault: Fault | null): Answer | null {
  switch (fault) {
    case 'busy':
      return { ...problem(429, 'capacity.exceeded'), headers: { 'retry-after': '0.05' } };
    case 'down':
      return { status: 503, body: { message: 'upstream is away' } };
    case 'forbidden':
      return problem(403, 'role.missing');
    case 'unwanted':
      return problem(422, 'events.invalid', { issues: [{ line: 1, pointer: '/x', expected: 'y', found: 'z' }] });
    default:
      return null;
  }
}

function problem(status: number, code: string, details: Record<string, unknown> = {}): Answer {
  return { status, body: { type: 'about:blank', title: code, status, code, detail: code, ...details } };
}
