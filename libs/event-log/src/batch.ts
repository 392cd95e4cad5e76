import type { RecreditError } from '#lib/kernel';

/** The producer id under which the platform writes its own events. Nobody else may use it. */
export const PLATFORM_PRODUCER = 'recredit';

/** Events as they will be stored: hashed and compressed before any lock is taken. */
export interface SealedPayload {
  readonly eventCount: number;
  readonly codec: 'zstd';
  readonly payload: Buffer;
  /** bytes of the NDJSON before compression */
  readonly size: number;
  /** of the NDJSON before compression */
  readonly sha256: Buffer;
}

/** Who numbers a batch, and how. */
export interface Producer {
  readonly producerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** What one request wants to append. */
export interface SealedBatch extends SealedPayload, Producer {}

/** What `admit` must know of a batch that is in the log. */
export interface StoredBatch extends Producer {
  readonly sha256: Buffer;
  readonly eventCount: number;
  readonly firstPosition: number;
}

export interface AdmittedBatch extends SealedBatch {
  readonly firstPosition: number;
}

export interface Acknowledgement {
  readonly firstPosition: number;
  /** the batch was here already */
  readonly duplicate: boolean;
}

export type Decision = Acknowledgement | RecreditError;
