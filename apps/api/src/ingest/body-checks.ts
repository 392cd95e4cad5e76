import { availableParallelism } from 'node:os';
import type { SealedPayload } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { Piscina } from 'piscina';
import type { EncodedBody } from './check-body.js';
import type { CheckAnswer } from './check-thread.js';

const THREAD = new URL('./check-thread.js', import.meta.url).href;
const MAX_THREADS = 4;

/**
 * Checks batches beside the event loop, in threads. What is decoded there dies there: in the heap of the whole API the
 * garbage of each batch would cost a mark through all of it every few batches, which was half of ingest.
 */
export class BodyChecks {
  readonly #threads = new Piscina({
    filename: THREAD,
    minThreads: 0,
    // one core is for the event loop
    maxThreads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
    idleTimeout: 60_000,
  });

  /** @throws RecreditError what is wrong with it */
  async check(body: EncodedBody): Promise<SealedPayload> {
    const answer = (await this.#threads.run(body)) as CheckAnswer;
    if ('problem' in answer) {
      const { code, message, details } = answer.problem;
      throw new RecreditError(code, message, details);
    }
    const { sha256, payload, ...sealed } = answer.sealed;
    return { ...sealed, sha256: bufferOf(sha256), payload: bufferOf(payload ?? body.body) };
  }

  async close(): Promise<void> {
    await this.#threads.destroy();
  }
}

/** A Buffer loses its class on the way between threads. */
const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
