import { RecreditError } from '#lib/kernel';
import { ProtobufReader } from './protobuf.js';
import { FAILED, isRemote, MAX_DEPTH, type Attributes, type Json, type Span, type SpanEvent } from './span.js';

/**
 * The spans of an ExportTraceServiceRequest in protobuf, in order. Field numbers are those of opentelemetry-proto
 * (collector/trace/v1, trace/v1, common/v1, resource/v1), 1.0 and later, which may only add to them.
 *
 * @throws RecreditError `request.invalid` for bytes that are none, or for nesting beyond 64 levels
 */
export function decodeProtobuf(bytes: Uint8Array): Span[] {
  const spans: Span[] = [];
  const request = new ProtobufReader(bytes);
  for (const field of request.fields()) if (field === 1) spans.push(...resourceSpans(request.message()));
  return spans;
}

function resourceSpans(reader: ProtobufReader): Span[] {
  let resource: Attributes = new Map();
  const scopes: ProtobufReader[] = [];
  for (const field of reader.fields()) {
    if (field === 1) resource = resourceOf(reader.message());
    else if (field === 2) scopes.push(reader.message()); // the resource may stand behind them
  }
  return scopes.flatMap((scope) => {
    const spans: Span[] = [];
    for (const field of scope.fields()) if (field === 2) spans.push(spanOf(scope.message(), resource));
    return spans;
  });
}

function resourceOf(reader: ProtobufReader): Attributes {
  const attributes = new Map<string, Json>();
  for (const field of reader.fields()) if (field === 1) addKeyValue(attributes, reader.message());
  return attributes;
}

function spanOf(reader: ProtobufReader, resource: Attributes): Span {
  const attributes = new Map<string, Json>();
  const events: SpanEvent[] = [];
  const ids = { traceId: '', spanId: '', parentSpanId: '' };
  const span = { name: '', remoteParent: false, start: 0n, end: 0n, failure: null as string | null };
  for (const field of reader.fields()) {
    if (field === 1) ids.traceId = hexOf(reader.raw());
    else if (field === 2) ids.spanId = hexOf(reader.raw());
    else if (field === 4) ids.parentSpanId = hexOf(reader.raw());
    else if (field === 5) span.name = reader.text();
    else if (field === 7) span.start = reader.fixed64();
    else if (field === 8) span.end = reader.fixed64();
    else if (field === 9) addKeyValue(attributes, reader.message());
    else if (field === 11) events.push(eventOf(reader.message()));
    else if (field === 15) span.failure = failureOf(reader.message());
    else if (field === 16) span.remoteParent = isRemote(reader.fixed32());
  }
  return { ...ids, ...span, attributes, events, resource };
}

function eventOf(reader: ProtobufReader): SpanEvent {
  const attributes = new Map<string, Json>();
  let name = '';
  for (const field of reader.fields()) {
    if (field === 2) name = reader.text();
    else if (field === 3) addKeyValue(attributes, reader.message());
  }
  return { name, attributes };
}

function failureOf(reader: ProtobufReader): string | null {
  let message = '';
  let code = 0;
  for (const field of reader.fields()) {
    if (field === 2) message = reader.text();
    else if (field === 3) code = reader.int32();
  }
  return code === FAILED ? message : null;
}

function addKeyValue(to: Map<string, Json>, reader: ProtobufReader, depth = 0): void {
  let key = '';
  let value: Json = null;
  for (const field of reader.fields()) {
    if (field === 1) key = reader.text();
    else if (field === 2) value = anyValue(reader.message(), depth);
  }
  to.set(key, value);
}

function anyValue(reader: ProtobufReader, depth: number): Json {
  if (depth > MAX_DEPTH) {
    throw new RecreditError('request.invalid', `attributes nested up to ${MAX_DEPTH} levels were wanted, found more`);
  }
  let value: Json = null;
  for (const field of reader.fields()) {
    if (field === 1) value = reader.text();
    else if (field === 2) value = reader.bool();
    else if (field === 3) value = integerOf(reader.int64());
    else if (field === 4) value = reader.double();
    else if (field === 5) value = arrayOf(reader.message(), depth);
    else if (field === 6) value = objectOf(reader.message(), depth);
    else if (field === 7) value = Buffer.from(reader.raw()).toString('base64');
  }
  return value;
}

function arrayOf(reader: ProtobufReader, depth: number): Json {
  const values: Json[] = [];
  for (const field of reader.fields()) if (field === 1) values.push(anyValue(reader.message(), depth + 1));
  return values;
}

function objectOf(reader: ProtobufReader, depth: number): Json {
  const values = new Map<string, Json>();
  for (const field of reader.fields()) if (field === 1) addKeyValue(values, reader.message(), depth + 1);
  return Object.fromEntries(values);
}

/** What no double holds exactly stays text. */
export function integerOf(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
