const MAX_BATCHES = 128;
const MAX_BYTES = 32 * 1024 * 1024;

/** Takes from the front of `waiting` what one transaction may hold: at least one, at most 128 batches or 32 MiB. */
export function takeGroup<Request extends { readonly batch: { readonly payload: Uint8Array } }>(
  waiting: Request[],
  { maxBatches = MAX_BATCHES, maxBytes = MAX_BYTES } = {},
): Request[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && count < maxBatches) {
    bytes += waiting[count].batch.payload.length;
    if (count > 0 && bytes > maxBytes) break;
    count++;
  }
  return waiting.splice(0, count);
}
