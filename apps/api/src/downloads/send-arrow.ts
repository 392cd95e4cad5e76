import { Readable } from 'node:stream';
import { arrowStream, type StreamColumn, type StreamRows } from '#lib/columnar';
import type { FastifyReply } from 'fastify';
import type { Logger } from 'pino';

export interface Download {
  /** any text: what is not harmless in a header and a file name is replaced */
  readonly fileName: string;
  readonly columns: readonly StreamColumn[];
  readonly rows: AsyncIterable<StreamRows>;
}

/**
 * Streams rows as they are made, no faster than the client takes them. A client that goes away ends the making. What
 * fails after the first byte ends the connection: what has arrived is then no whole Arrow stream.
 */
export function sendArrow(reply: FastifyReply, { fileName, columns, rows }: Download, logger: Logger): FastifyReply {
  void reply
    .header('content-type', 'application/vnd.apache.arrow.stream')
    .header('content-disposition', `attachment; filename="${safeFileName(fileName)}"`)
    .header('cache-control', 'no-store');
  if (reply.request.method === 'HEAD') return reply.send();
  // one chunk is one record batch: to hold sixteen of them ready would be far too many
  const stream = Readable.from(arrowStream(columns, rows), { highWaterMark: 1 });
  stream.once('error', (error) => logger.error({ err: error, fileName }, 'a download broke off'));
  return reply.send(stream);
}

/** No quotes, no separators, no dot at its beginning, no more than 100 characters. */
export function safeFileName(name: string): string {
  return name
    .replace(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(-100);
}
