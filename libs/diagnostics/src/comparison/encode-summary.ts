import { RecreditError } from '#lib/kernel';
import type { Sample } from './sample.js';
import type { ShardSummary } from './shard-summary.js';

/** File mark, and the version of the layout. */
const MAGIC = 'RCSUM001';
const HEADER = 16;

const KINDS = { f64: Float64Array, i32: Int32Array } as const;

/** Where a typed array of the summary lies among the bytes behind the JSON. */
interface Placed {
  readonly $array: keyof typeof KINDS;
  readonly at: number;
  readonly length: number;
}

/**
 * A summary in bytes: equal summaries have equal bytes.
 *
 *     "RCSUM001" | length of the JSON (uint32 LE) | 4 zero bytes | JSON, padded with spaces to 8 bytes | arrays, each padded to 8
 *
 * In the JSON an array is `{"$array":"f64","at":…,"length":…}`, `at` counted from the end of the JSON, and a number that
 * JSON does not know (a sum that overflowed) `{"$number":"Infinity"}`.
 */
export function encodeSummary(summary: ShardSummary): Uint8Array {
  const arrays: (Float64Array | Int32Array)[] = [];
  let size = 0;
  const json = JSON.stringify(summary, (_, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) };
    if (!(value instanceof Float64Array || value instanceof Int32Array)) return value;
    const placed: Placed = { $array: value instanceof Int32Array ? 'i32' : 'f64', at: size, length: value.length };
    arrays.push(value);
    size += padded(value.byteLength);
    return placed;
  });
  const text = new TextEncoder().encode(json);
  const start = HEADER + padded(text.length);
  const bytes = new Uint8Array(start + size);
  bytes.fill(32, HEADER, start);
  bytes.set(new TextEncoder().encode(MAGIC));
  new DataView(bytes.buffer).setUint32(MAGIC.length, start - HEADER, true);
  bytes.set(text, HEADER);
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += padded(array.byteLength);
  }
  return bytes;
}

/** The summary that encodeSummary wrote. Its arrays are its own: the bytes may be reused. */
export function decodeSummary(bytes: Uint8Array): ShardSummary {
  const magic = new TextDecoder().decode(bytes.subarray(0, MAGIC.length));
  if (magic !== MAGIC) throw new RecreditError('segment.damaged', `expected a summary (${MAGIC}), found "${magic}"`);
  const start = HEADER + new DataView(bytes.buffer, bytes.byteOffset).getUint32(MAGIC.length, true);
  const json = new TextDecoder().decode(bytes.subarray(HEADER, start));
  const summary = JSON.parse(json, (_, value: unknown) => {
    if (isPlaced(value)) return arrayAt(bytes, start, value);
    return isNumber(value) ? Number(value.$number) : value;
  }) as ShardSummary;
  return upcast(summary);
}

/**
 * Summaries of version 1 do not say which groups are of mixed outcomes: none is taken for one. Those before version 3 know
 * no stability, tags, gradients and labels of annotators.
 */
function upcast(read: Since<ShardSummary, 'stability'>): ShardSummary {
  const sample: Since<Sample, 'mixed' | 'labels' | 'gradients' | 'tags'> = read.sample;
  const { mixed = new Int32Array(sample.groupOf.length), labels = [], gradients = [], tags = [] } = sample;
  return { ...read, stability: read.stability ?? [], sample: { ...sample, mixed, labels, gradients, tags } };
}

/** As it is read: what was added later need not be there. */
type Since<Whole, Added extends keyof Whole> = Omit<Whole, Added> & Partial<Pick<Whole, Added>>;

function arrayAt(bytes: Uint8Array, start: number, { $array, at, length }: Placed): Float64Array | Int32Array {
  const Kind = KINDS[$array];
  const end = start + at + length * Kind.BYTES_PER_ELEMENT;
  if (end > bytes.length) {
    throw new RecreditError('segment.damaged', `a summary was cut off: expected ${end} bytes, found ${bytes.length}`);
  }
  // a copy, whatever kind of bytes these are: slice() of a Buffer is a view
  return new Kind(new Uint8Array(bytes.subarray(start + at, end)).buffer);
}

function isPlaced(value: unknown): value is Placed {
  return typeof value === 'object' && value !== null && '$array' in value;
}

function isNumber(value: unknown): value is { readonly $number: string } {
  return typeof value === 'object' && value !== null && '$number' in value;
}

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}
