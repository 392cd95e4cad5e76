import type { RunEvent } from '#lib/protocol';
import type { SealedBatch } from './batch.js';
import { sealBatch } from './seal.js';

/** An event that says who sent it and as which one. */
export function anEvent(from: string, index: number): RunEvent {
  return { type: 'trainingStep.recorded', at: '2026-01-01T00:00:00Z', trainingStep: index, metrics: { [from]: index } };
}

export function ndjsonOf(events: readonly RunEvent[]): Buffer {
  return Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

/** Batch `sequence` of a producer: the next two of its events. */
export function aBatch(
  producerId: string,
  sequence: number,
  { epoch = 0, size = 2, content = producerId } = {},
): Promise<SealedBatch> {
  const events = Array.from({ length: size }, (_, i) => anEvent(content, sequence * size + i));
  return sealBatch({ producerId, epoch, sequence, ndjson: ndjsonOf(events), eventCount: size });
}

/** What `anEvent` said: "p:7". */
export function saying(event: RunEvent): string {
  if (event.type !== 'trainingStep.recorded') return event.type;
  return Object.entries(event.metrics)
    .map(([from, index]) => `${from}:${index}`)
    .join();
}
