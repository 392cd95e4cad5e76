import { RecreditError } from '#lib/kernel';
import { isDeeperThan } from '#lib/protocol';
import { integerOf } from './decode-protobuf.js';
import { FAILED, isRemote, MAX_DEPTH, type Attributes, type Json, type Span, type SpanEvent } from './span.js';

/** A message around each value, and the value's own member, and the lists: what stands above and within attributes. */
const MAX_JSON_DEPTH = 12 + 3 * MAX_DEPTH;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The spans of an ExportTraceServiceRequest in OTLP's JSON, in order: names in lowerCamelCase, ids in hexadecimal,
 * 64-bit integers as decimal text or numbers (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). Unknown
 * fields are ignored, as the specification asks.
 *
 * @throws RecreditError `request.invalid` with the place of what is none
 */
export function decodeJson(text: string): Span[] {
  try {
    return spansOfRequest(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RecreditError('request.invalid', `JSON was wanted: ${error.message}`);
  }
}

/** The same of a request that is read already. @throws RecreditError `request.invalid` with the place of what is none */
export function spansOfRequest(request: unknown): Span[] {
  if (isDeeperThan(request, MAX_JSON_DEPTH)) {
    throw new RecreditError('request.invalid', `attributes nested up to ${MAX_DEPTH} levels were wanted, found more`);
  }
  return listOf(fieldsOf(request, ''), 'resourceSpans', '').flatMap(([group, at]) => {
    const { resource } = group;
    const shared = isAbsent(resource)
      ? new Map()
      : attributesOf(fieldsOf(resource, `${at}/resource`), `${at}/resource`);
    return listOf(group, 'scopeSpans', at).flatMap(([scope, inScope]) =>
      listOf(scope, 'spans', inScope).map(([span, inSpan]) => spanOf(span, inSpan, shared)),
    );
  });
}

function spanOf(span: Fields, at: string, resource: Attributes): Span {
  return {
    traceId: textOf(span, 'traceId', at).toLowerCase(),
    spanId: textOf(span, 'spanId', at).toLowerCase(),
    parentSpanId: textOf(span, 'parentSpanId', at).toLowerCase(),
    name: textOf(span, 'name', at),
    remoteParent: isRemote(Number(integer(span, 'flags', at))),
    start: integer(span, 'startTimeUnixNano', at),
    end: integer(span, 'endTimeUnixNano', at),
    attributes: attributesOf(span, at),
    events: listOf(span, 'events', at).map(([event, inEvent]): SpanEvent => ({
      name: textOf(event, 'name', inEvent),
      attributes: attributesOf(event, inEvent),
    })),
    failure: failureOf(span, at),
    resource,
  };
}

function failureOf(span: Fields, at: string): string | null {
  if (isAbsent(span.status)) return null;
  const status = fieldsOf(span.status, `${at}/status`);
  return Number(status.code) === FAILED ? textOf(status, 'message', `${at}/status`) : null;
}

function attributesOf(holder: Fields, at: string): Attributes {
  return new Map(keyValues(holder, 'attributes', at));
}

function keyValues(holder: Fields, name: string, at: string): [string, Json][] {
  return listOf(holder, name, at).map(([pair, inPair]) => [
    textOf(pair, 'key', inPair),
    anyValue(pair.value, `${inPair}/value`),
  ]);
}

function anyValue(value: unknown, at: string): Json {
  if (isAbsent(value)) return null;
  const any = fieldsOf(value, at);
  if ('stringValue' in any) return textOf(any, 'stringValue', at);
  if ('boolValue' in any) {
    if (typeof any.boolValue !== 'boolean') throw wrong(`${at}/boolValue`, 'true or false', any.boolValue);
    return any.boolValue;
  }
  if ('intValue' in any) return integerOf(integer(any, 'intValue', at));
  if ('doubleValue' in any) return doubleOf(any.doubleValue, `${at}/doubleValue`);
  if ('bytesValue' in any) return textOf(any, 'bytesValue', at);
  if ('arrayValue' in any) {
    const array = isAbsent(any.arrayValue) ? {} : fieldsOf(any.arrayValue, `${at}/arrayValue`);
    return listOf(array, 'values', `${at}/arrayValue`).map(([item, inItem]) => anyValue(item, inItem));
  }
  if ('kvlistValue' in any) {
    const list = isAbsent(any.kvlistValue) ? {} : fieldsOf(any.kvlistValue, `${at}/kvlistValue`);
    return Object.fromEntries(keyValues(list, 'values', `${at}/kvlistValue`));
  }
  return null;
}

/** What JSON has no number for is text in protobuf's JSON, and null in that of the JavaScript SDK. */
function doubleOf(value: unknown, at: string): number {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === null) return NaN;
  if (value === 'Infinity' || value === '-Infinity') return Number(value);
  throw wrong(at, 'a number', value);
}

function listOf(holder: Fields, name: string, at: string): [Fields, string][] {
  const list = holder[name];
  if (isAbsent(list)) return [];
  if (!Array.isArray(list)) throw wrong(`${at}/${name}`, 'a list', list);
  return list.map((item, i) => [fieldsOf(item, `${at}/${name}/${i}`), `${at}/${name}/${i}`]);
}

function fieldsOf(value: unknown, at: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(at, 'an object', value);
  return value as Fields;
}

function textOf(holder: Fields, name: string, at: string): string {
  const value = holder[name];
  if (isAbsent(value)) return '';
  if (typeof value !== 'string') throw wrong(`${at}/${name}`, 'text', value);
  return value;
}

function integer(holder: Fields, name: string, at: string): bigint {
  const value = holder[name];
  if (isAbsent(value)) return 0n;
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt.asIntN(64, BigInt(value));
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt.asIntN(64, BigInt(value));
  throw wrong(`${at}/${name}`, 'a whole number', value);
}

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

function wrong(pointer: string, wanted: string, found: unknown): RecreditError {
  const seen = JSON.stringify(found)?.slice(0, 100) ?? 'nothing';
  return new RecreditError('request.invalid', `${pointer || 'the body'}: ${wanted} was wanted, found ${seen}`, {
    pointer,
  });
}
