import type { SealedPayload } from '#lib/event-log';
import { RecreditError } from '#lib/kernel';
import { checkBody, type EncodedBody } from './check-body.js';

/** What was found. An error loses its class on the way between threads. */
export type CheckAnswer =
  /** payload null: the body as it came */
  | { readonly sealed: Omit<SealedPayload, 'payload'> & { readonly payload: Uint8Array | null } }
  | { readonly problem: Pick<RecreditError, 'code' | 'message' | 'details'> };

export default async function run(body: EncodedBody): Promise<CheckAnswer> {
  try {
    const sealed = await checkBody(body);
    const isAsItCame = sealed.payload.buffer === body.body.buffer;
    return { sealed: { ...sealed, payload: isAsItCame ? null : sealed.payload } };
  } catch (error) {
    if (!(error instanceof RecreditError)) throw error;
    return { problem: { code: error.code, message: error.message, details: error.details } };
  }
}
