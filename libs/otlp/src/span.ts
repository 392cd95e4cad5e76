/** A value of an attribute, as JSON has it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export type Attributes = ReadonlyMap<string, Json>;

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

/** A span as both forms of OTLP bring it (opentelemetry-proto, trace/v1). */
export interface Span {
  /** 32 hexadecimal digits, lower case */
  readonly traceId: string;
  /** 16 hexadecimal digits, lower case */
  readonly spanId: string;
  /** '': it has none */
  readonly parentSpanId: string;
  readonly name: string;
  /** the parent is of another process, so it comes in no export of this one */
  readonly remoteParent: boolean;
  /** nanoseconds since 1970; 0: not said */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** what went wrong; null: nothing, or nothing that was said */
  readonly failure: string | null;
  /** of the process that it comes from */
  readonly resource: Attributes;
}

/** Bits of `flags`: whether the parent is remote is known, and it is (SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE, _IS_REMOTE). */
const REMOTE = 0x300;
export const isRemote = (flags: number) => (flags & REMOTE) === REMOTE;

/** STATUS_CODE_ERROR */
export const FAILED = 2;

/** Attributes nested deeper are refused, in both forms. */
export const MAX_DEPTH = 64;
