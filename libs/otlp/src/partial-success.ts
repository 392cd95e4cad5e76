import type { Refusal } from './trees.js';

/** What of an export was not taken (opentelemetry-proto, collector/trace/v1, ExportTracePartialSuccess). */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

const MAX_REASONS = 10;

/** @returns null where all was taken */
export function partialSuccessOf(refusals: readonly Refusal[]): PartialSuccess | null {
  const byReason = new Map<string, number>();
  for (const { spans, why } of refusals) byReason.set(why, (byReason.get(why) ?? 0) + spans.length);
  if (byReason.size === 0) return null;
  const told = [...byReason]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_REASONS)
    .map(([why, count]) => `${count} span${count === 1 ? '' : 's'}: ${why}`);
  const more = byReason.size > MAX_REASONS ? [`and ${byReason.size - MAX_REASONS} more reasons`] : [];
  const rejectedSpans = [...byReason.values()].reduce((sum, count) => sum + count, 0);
  return { rejectedSpans, errorMessage: [...told, ...more].join('; ').slice(0, 4_000).toWellFormed() };
}

/** An ExportTraceServiceResponse in OTLP's JSON. */
export function responseJson(partial: PartialSuccess | null): string {
  if (!partial) return '{}';
  return JSON.stringify({ partialSuccess: { ...partial, rejectedSpans: String(partial.rejectedSpans) } });
}

/** The same in protobuf: field 1 is the message, in it field 1 the count and field 2 the text. */
export function responseProtobuf(partial: PartialSuccess | null): Buffer {
  if (!partial) return Buffer.alloc(0);
  const text = Buffer.from(partial.errorMessage);
  const inside = Buffer.concat([
    Buffer.from([0x08, ...varint(partial.rejectedSpans), 0x12, ...varint(text.length)]),
    text,
  ]);
  return Buffer.concat([Buffer.from([0x0a, ...varint(inside.length)]), inside]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
