import type { Principal } from '#lib/access';
import { sealBatch } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { APART, readTrajectories, TracesApart, type Refusal, type Span, type TracedTrajectory } from '#lib/otlp';
import { checkBatch, MAX_BATCH_BYTES } from '#lib/protocol';
import type { Figures } from '../figures/figures.js';
import type { ApiPorts } from '../ports.js';
import { runOfTraces } from './run-of-traces.js';

/** Why a root is refused whose spans came without it. */
const INCOMPLETE = 'other spans of their trace came in an earlier export and were refused: it would be incomplete';

/** How many trajectories of an export are stored at once. */
const AT_ONCE = 64;

/**
 * Stores the trajectories of exports. Each is a batch of its own, of a producer that has the trajectory's id: the same
 * spans again are the same batch, which the log knows, and other spans under the same ids contradict it.
 */
export class TraceTaker {
  readonly #apart = new TracesApart();

  constructor(
    private readonly ports: ApiPorts,
    private readonly figures: Figures,
  ) {}

  /**
   * @returns what was refused for good
   * @throws RecreditError what passes: over capacity, over the rate, no database. What is stored by then is known when
   * the export comes again
   */
  async take(caller: Principal, spans: readonly Span[]): Promise<Refusal[]> {
    const { trajectories, refusals } = readTrajectories(spans);
    for (const refusal of refusals) if (refusal.why === APART) this.#apart.remember(caller.keyId, refusal.spans);
    const ofTrace = Map.groupBy(spans, ({ traceId }) => traceId);
    const runs = new Map<string, Promise<string>>();
    const store = async (trajectory: TracedTrajectory): Promise<void> => {
      if (this.#apart.lacksSome(caller.keyId, ofTrace.get(trajectory.spans[0].traceId)!)) {
        refusals.push({ spans: trajectory.spans, why: INCOMPLETE });
        return;
      }
      try {
        const place = JSON.stringify([trajectory.project, trajectory.run]);
        const run = runs.get(place) ?? runOfTraces(this.ports, caller, trajectory.project, trajectory.run);
        runs.set(place, run);
        await this.#append(await run, trajectory);
      } catch (error) {
        refusals.push({ spans: trajectory.spans, why: lastingReason(error, trajectory) });
      }
    };
    this.ports.limiter?.charge(caller, 'eventsPerSecond', trajectories.length);
    for (let i = 0; i < trajectories.length; i += AT_ONCE) {
      const settled = await Promise.allSettled(trajectories.slice(i, i + AT_ONCE).map(store));
      const failed = settled.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    }
    return refusals;
  }

  async #append(run: string, { id, event }: TracedTrajectory): Promise<void> {
    const ndjson = Buffer.from(`${JSON.stringify(event)}\n`);
    if (ndjson.length > MAX_BATCH_BYTES)
      throw new RecreditError('batch.too-large', `more than ${MAX_BATCH_BYTES} bytes`);
    checkBatch(ndjson);
    const sealed = await sealBatch({ producerId: `otlp:${id}`, epoch: 0, sequence: 0, ndjson, eventCount: 1 });
    const { duplicate } = await this.ports.log.append(run, sealed);
    this.figures.took({ events: 1, decodedBytes: ndjson.length, storedBytes: sealed.payload.length, duplicate });
  }
}

/** Why a trajectory will never be taken as it is. @throws the error where that may change by itself */
function lastingReason(error: unknown, { id }: TracedTrajectory): string {
  if (!(error instanceof RecreditError) || error.status === 429 || error.status >= 500) throw error;
  if (error.code === 'batch.conflicting') return `trajectory ${id} is recorded already, with other spans`;
  return `${error.code}: ${error.message}`;
}
