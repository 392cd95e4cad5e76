import { Readable } from 'node:stream';
import { RecreditError } from '#lib/kernel';
import { decodeJson, decodeProtobuf, partialSuccessOf, responseJson, responseProtobuf, type Span } from '#lib/otlp';
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '#lib/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Figures } from '../figures/figures.js';
import { callerOf } from '../http/caller.js';
import { Admission } from '../ingest/admission.js';
import { collectBody, decodeBody, encodingOf } from '../ingest/decode-body.js';
import type { ApiPorts } from '../ports.js';
import { TraceTaker } from './take-traces.js';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

/** Exports that are read at once; a span takes several times its bytes in memory. */
const CAPACITY = 8 * MAX_BATCH_BYTES;

export interface TracesOptions {
  readonly ports: ApiPorts;
  readonly figures: Figures;
  /** bytes of a body as it comes */
  readonly bodyLimit: number;
}

/**
 * `POST /v1/traces`: OTLP over HTTP (opentelemetry.io/docs/specs/otlp), in protobuf or JSON. A plugin of its own, as it
 * reads its bodies itself, JSON as well: chunk by chunk and compressed.
 */
export async function serveTraces(
  fastify: FastifyInstance,
  { ports, figures, bodyLimit }: TracesOptions,
): Promise<void> {
  const admission = new Admission(CAPACITY);
  const taker = new TraceTaker(ports, figures);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { bodyLimit }, (_request, body, done) => done(null, body));
  fastify.post('/v1/traces', { bodyLimit }, async (request, reply) => {
    const caller = callerOf(request, 'ingest');
    const type = contentTypeOf(request);
    ports.limiter?.assertWithin(caller, 'eventsPerSecond');
    const room = admission.enter(MAX_BATCH_BYTES);
    try {
      const body = request.body instanceof Readable ? request.body : Readable.from([]);
      const encoding = encodingOf(request.headers['content-encoding']);
      const bytes = await decodeBody(await collectBody(body, MAX_BATCH_BYTES), encoding, MAX_BATCH_BYTES);
      room.shrink(bytes.length);
      const spans = spansOf(bytes, type);
      const partial = partialSuccessOf(await taker.take(caller, spans));
      return await reply
        .header('content-type', type)
        .send(type === JSON_TYPE ? responseJson(partial) : responseProtobuf(partial));
    } finally {
      room.leave();
    }
  });
}

function contentTypeOf({ headers }: FastifyRequest): typeof PROTOBUF | typeof JSON_TYPE {
  const found = headers['content-type']?.split(';', 1)[0].trim().toLowerCase();
  if (found === PROTOBUF || found === JSON_TYPE) return found;
  const message = `Content-Type: ${PROTOBUF} or ${JSON_TYPE} was wanted, found ${found ?? 'nothing'}`;
  throw new RecreditError('encoding.unknown', message);
}

function spansOf(bytes: Buffer, type: typeof PROTOBUF | typeof JSON_TYPE): Span[] {
  const spans = type === JSON_TYPE ? decodeJson(textOf(bytes)) : decodeProtobuf(bytes);
  if (spans.length <= MAX_BATCH_EVENTS) return spans;
  throw new RecreditError(
    'batch.too-large',
    `an export holds up to ${MAX_BATCH_EVENTS} spans, this one ${spans.length}`,
    {
      maximum: MAX_BATCH_EVENTS,
      found: spans.length,
    },
  );
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RecreditError('request.invalid', 'UTF-8 was wanted, found bytes that are not UTF-8', {}, { cause });
  }
}
