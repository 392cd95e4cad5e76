import { hash } from 'node:crypto';

/** Where every chain starts: the hash of nothing. */
export const CHAIN_START: Buffer = hash('sha256', '', 'buffer');

/** Binds a batch to all before it: sha256(previous chain hash || hash of the batch's NDJSON). */
export function chain(previous: Buffer, payloadSha256: Buffer): Buffer {
  return hash('sha256', Buffer.concat([previous, payloadSha256]), 'buffer');
}
