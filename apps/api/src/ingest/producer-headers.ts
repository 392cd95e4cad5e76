import { RecreditError } from '#lib/kernel';
import type { IncomingHttpHeaders } from 'node:http';

/** Which batch of which producer a request brings. */
export interface ProducerHeaders {
  readonly producerId: string;
  readonly epoch: number;
  readonly sequence: number;
}

const MAX_INT = 2_147_483_647;

/** Reads `Recredit-Producer`, `Recredit-Epoch` and `Recredit-Sequence`. All three are needed: exactly-once rests on them. */
export function producerHeaders(headers: IncomingHttpHeaders): ProducerHeaders {
  const producerId = headers['recredit-producer'];
  if (typeof producerId !== 'string' || !/^[\w.:@-]{1,128}$/.test(producerId)) {
    throw invalid('Recredit-Producer', '1 to 128 letters, digits or any of . : @ _ -', producerId);
  }
  if (producerId === 'recredit')
    throw invalid('Recredit-Producer', "another name: this one is the platform's own", producerId);
  return {
    producerId,
    epoch: wholeNumber(headers, 'Recredit-Epoch'),
    sequence: wholeNumber(headers, 'Recredit-Sequence'),
  };
}

function wholeNumber(headers: IncomingHttpHeaders, name: string): number {
  const text = headers[name.toLowerCase()];
  if (typeof text !== 'string' || !/^\d{1,10}$/.test(text) || Number(text) > MAX_INT) {
    throw invalid(name, `a whole number from 0 to ${MAX_INT}`, text);
  }
  return Number(text);
}

function invalid(name: string, wanted: string, found: unknown): RecreditError {
  const shown = found === undefined ? 'nothing' : JSON.stringify(found);
  return new RecreditError('request.invalid', `header ${name}: wanted ${wanted}, found ${shown}`, { header: name });
}
