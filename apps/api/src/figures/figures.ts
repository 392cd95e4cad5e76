import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ApiPorts } from '../ports.js';
import { addDatabaseFigures } from './database-figures.js';

/** Seconds: from a batch of a few events on an idle machine to what a producer gives up waiting for. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const PREFIX = 'recredit_';

/** A request that was answered. */
export interface AnsweredRequest {
  readonly method: string;
  /** as it is declared, without what a caller named; '' where no route fits */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** why it was refused */
  readonly problem: string | null;
}

/** A batch that is in the log. */
export interface TakenBatch {
  readonly events: number;
  /** of the NDJSON, and of what is stored of it */
  readonly decodedBytes: number;
  readonly storedBytes: number;
  readonly duplicate: boolean;
}

export const INGEST_ROUTE = '/v1/runs/:run/events';

/**
 * What Prometheus is told. Counters and histograms are of this process; what the database knows (lag of the projector,
 * queue, the workers' shards) is looked up when somebody asks, and is the same from every API process.
 */
export class Figures {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;
  readonly #ingest: Histogram;
  readonly #refusals: Counter<'code'>;
  readonly #events: Counter<'outcome'>;
  readonly #batches: Counter<'outcome'>;
  readonly #bytes: Counter<'form'>;

  constructor(ports: Pick<ApiPorts, 'pool' | 'platform' | 'queue'>) {
    const registers = [this.#registry];
    const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name: PREFIX + name, help, labelNames, registers });
    this.#requests = new Histogram({
      name: `${PREFIX}http_request_seconds`,
      help: 'Time to answer a request, by declared route',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS,
      registers,
    });
    this.#ingest = new Histogram({
      name: `${PREFIX}ingest_seconds`,
      help: 'Time from the head of a request to the acknowledgement of its batch',
      buckets: SECONDS,
      registers,
    });
    this.#refusals = counter('ingest_refusals_total', 'Requests to append that were refused, by error code', ['code']);
    this.#events = counter('ingest_events_total', 'Acknowledged events: new ones, and those that were there', [
      'outcome',
    ]);
    this.#batches = counter('ingest_batches_total', 'Acknowledged batches', ['outcome']);
    this.#bytes = counter('ingest_bytes_total', 'Bytes of acknowledged batches, as NDJSON and as they are stored', [
      'form',
    ]);
    this.#connections(ports);
    addDatabaseFigures(ports, this.#registry);
    collectDefaultMetrics({ register: this.#registry });
  }

  answered({ method, route, status, seconds, problem }: AnsweredRequest): void {
    this.#requests.observe({ method, route, status: String(status) }, seconds);
    if (route !== INGEST_ROUTE || method !== 'POST') return;
    if (problem === null) this.#ingest.observe(seconds);
    else this.#refusals.inc({ code: problem });
  }

  took({ events, decodedBytes, storedBytes, duplicate }: TakenBatch): void {
    const outcome = duplicate ? 'duplicate' : 'stored';
    this.#events.inc({ outcome }, events);
    this.#batches.inc({ outcome });
    this.#bytes.inc({ form: 'decoded' }, decodedBytes);
    this.#bytes.inc({ form: 'stored' }, storedBytes);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #connections({ pool, platform }: Pick<ApiPorts, 'pool' | 'platform'>): void {
    this.#registry.registerMetric(
      new Gauge({
        name: `${PREFIX}pool_connections`,
        help: 'Connections to Postgres of this process: in use, idle; and requests that wait for one',
        labelNames: ['pool', 'state'],
        registers: [],
        collect() {
          for (const [name, { totalCount, idleCount, waitingCount }] of Object.entries({ callers: pool, platform })) {
            this.set({ pool: name, state: 'used' }, totalCount - idleCount);
            this.set({ pool: name, state: 'idle' }, idleCount);
            this.set({ pool: name, state: 'waiting' }, waitingCount);
          }
        },
      }),
    );
  }
}
