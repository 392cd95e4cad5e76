import type { z } from 'zod';

/** What a running job may look at beside its payload. */
export interface Attempt {
  /** from 1 */
  readonly number: number;
  /** set when the job was cancelled, took too long, or the worker stops: give up, what was done is done */
  readonly signal: AbortSignal;
}

/**
 * Work that outlives the process which asked for it: data in, ports as arguments.
 *
 * `run` may be called again after it was interrupted at any point, and, where a worker was thought dead and was only
 * stuck, twice at once: it must not mind. It must not block the event loop for long either, or its worker is taken for
 * dead.
 */
export interface Job<Payload extends z.ZodType, Ports> {
  /** kebab-case imperative */
  readonly name: string;
  readonly payload: Payload;
  /** what the job is about: of the same key one is waiting or running at a time, and more are not queued */
  readonly key: (payload: z.infer<Payload>) => string;
  /** tries after the first one */
  readonly retryLimit: number;
  /** before the second try, doubled before each further one */
  readonly retryDelaySeconds?: number;
  /** a try that takes longer has failed */
  readonly expireSeconds?: number;
  readonly run: (payload: z.infer<Payload>, ports: Ports, attempt: Attempt) => Promise<void>;
  /** called, at least once, when no try is left; also when each worker died of it */
  readonly failed?: (payload: z.infer<Payload>, reason: string, ports: Ports) => Promise<void>;
}

export function defineJob<Payload extends z.ZodType, Ports>(job: Job<Payload, Ports>): Job<Payload, Ports> {
  return job;
}
