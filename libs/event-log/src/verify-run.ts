import { hash } from 'node:crypto';
import { messageOf, RecreditError } from '#lib/kernel';
import { chain, CHAIN_START } from './chain.js';
import { rowsWithBytes, type Columns, type Queryable } from './queryable.js';
import { decompress, startsOfLines } from './unpack.js';

const PAGE_BATCHES = 256;
const PAGE_BYTES = 32 * 1024 * 1024;
/** Of a stretch, which somebody waits for, and an API unpacks beside all else that it does. */
const STRETCH_BYTES = 2 * 1024 * 1024;

/** The first place where the log is not what was acknowledged. */
export interface BrokenBatch {
  readonly position: number;
  /** null: it is the head of the run that is wrong */
  readonly producerId: string | null;
  readonly sequence: number | null;
  readonly what: 'position' | 'payload' | 'payload hash' | 'event count' | 'chain hash' | 'head';
  readonly expected: string;
  readonly found: string;
}

export interface Verification {
  readonly runId: string;
  readonly batches: number;
  readonly events: number;
  /** of NDJSON */
  readonly bytes: number;
  /** over all that was walked, in hexadecimal: kept elsewhere, it shows later that nothing was cut off or made anew */
  readonly chainHash: string;
  /** the batches whose payloads were erased: of these the hashes and their chain are checked, and nothing else can be */
  readonly erased: { readonly batches: number; readonly events: number; readonly position: number } | null;
  readonly broken: BrokenBatch | null;
}

/** A part of a run's log, from the beginning of one batch to the end of another. */
export interface VerifiedStretch {
  readonly from: number;
  /** where it ends: what lies between is as it was acknowledged */
  readonly position: number;
  readonly events: number;
  readonly batches: number;
  /** of NDJSON */
  readonly bytes: number;
  /** over the whole log up to its end, in hexadecimal */
  readonly chainHash: string;
  /** it ends at the head of the run, and the head is right */
  readonly isWhole: boolean;
  readonly broken: BrokenBatch | null;
}

export interface VerifyOptions {
  readonly pageBatches?: number;
  readonly onProgress?: (eventsDone: number, eventsInAll: number) => void;
}

type WrittenBatch = {
  readonly firstPosition: number;
  readonly eventCount: number;
  readonly producerId: string;
  readonly sequence: number;
  readonly payload: Buffer;
  readonly size: number;
  readonly payloadSha256: Buffer;
  readonly chainHash: Buffer;
};

const WRITTEN: Columns<WrittenBatch> = {
  firstPosition: 'float8',
  eventCount: 'int4',
  producerId: 'text',
  sequence: 'int4',
  payload: 'bytea',
  size: 'int4',
  payloadSha256: 'bytea',
  chainHash: 'bytea',
};

interface WrittenHead {
  readonly nextPosition: number;
  readonly chainHash: Buffer;
  readonly lastPosition: number | null;
  readonly erasedPosition: number | null;
}

/** What is read at once, at most; a larger batch comes alone. */
interface PageSize {
  readonly pageBatches: number;
  readonly pageBytes: number;
}

/** How far a walk is. */
interface Walk {
  readonly position: number;
  /** of the last batch: where it begins */
  readonly after: number;
  readonly chainHash: Buffer;
  readonly batches: number;
  readonly bytes: number;
  readonly purged: { readonly batches: number; readonly events: number };
  readonly erasedPosition: number | null;
  readonly broken: BrokenBatch | null;
}

const START = { position: 0, after: -1, chainHash: CHAIN_START };
const NOTHING_YET = { batches: 0, bytes: 0, purged: { batches: 0, events: 0 }, broken: null };

/**
 * Walks a run from its first batch to its head as of now and stops at the first batch that is not as it was
 * acknowledged. What is appended meanwhile does not disturb it.
 */
export async function verifyRun(
  db: Queryable,
  runId: string,
  { pageBatches = PAGE_BATCHES, onProgress }: VerifyOptions = {},
): Promise<Verification> {
  const head = await headWithLast(db, runId);
  let walk: Walk = { ...START, ...NOTHING_YET, erasedPosition: head.erasedPosition };
  while (!walk.broken && walk.after < (head.lastPosition ?? -1)) {
    const next = await walkPage(db, runId, head, walk, { pageBatches, pageBytes: PAGE_BYTES });
    if (next === walk) break;
    walk = next;
    if (!walk.broken) onProgress?.(walk.position, head.nextPosition);
  }
  const { position, batches, bytes, chainHash, purged, erasedPosition } = walk;
  return {
    runId,
    batches,
    events: position,
    bytes,
    chainHash: chainHash.toString('hex'),
    erased: erasedPosition === null ? null : { ...purged, position: erasedPosition },
    broken: walk.broken ?? faultOfHead(head, position, chainHash),
  };
}

/**
 * Walks a bounded part of a run, some 2 MiB: for those who go through a long log piece by piece, each from where the
 * one before it ended.
 *
 * @throws RecreditError `run.unknown`, `request.invalid` where no batch begins at `from`
 */
export async function verifyStretch(
  db: Queryable,
  runId: string,
  from = 0,
  pageBatches = PAGE_BATCHES,
): Promise<VerifiedStretch> {
  const head = await headWithLast(db, runId);
  const start = from === 0 ? START : await endOfBatch(db, runId, from);
  const begun: Walk = { ...start, ...NOTHING_YET, erasedPosition: head.erasedPosition };
  const walk = await walkPage(db, runId, head, begun, { pageBatches, pageBytes: STRETCH_BYTES });
  const isEnd = walk === begun || walk.after >= (head.lastPosition ?? -1);
  const broken = walk.broken ?? (isEnd ? faultOfHead(head, walk.position, walk.chainHash) : null);
  const { position, batches, bytes, chainHash } = walk;
  return {
    from,
    position,
    events: position - from,
    batches,
    bytes,
    chainHash: chainHash.toString('hex'),
    isWhole: isEnd && broken === null,
    broken,
  };
}

/** Goes on by one page; where there is none, the walk stays as it is. */
async function walkPage(db: Queryable, runId: string, head: WrittenHead, walk: Walk, size: PageSize): Promise<Walk> {
  for (const batch of await pageAfter(db, runId, walk.after, head.lastPosition ?? -1, size)) {
    const chainHash = chain(walk.chainHash, batch.payloadSha256);
    const isEmpty = batch.payload.length === 0;
    let { erasedPosition } = walk;
    // erased since the head was read?
    if (isEmpty && erasedPosition === null) ({ erasedPosition } = await headWithLast(db, runId));
    const isErased = isEmpty && erasedPosition !== null && batch.firstPosition < erasedPosition;
    const broken = await faultOf(batch, walk.position, chainHash, isErased);
    if (broken) return { ...walk, erasedPosition, broken };
    const { batches, events } = walk.purged;
    walk = {
      ...walk,
      position: walk.position + batch.eventCount,
      after: batch.firstPosition,
      chainHash,
      batches: walk.batches + 1,
      bytes: walk.bytes + batch.size,
      purged: isErased ? { batches: batches + 1, events: events + batch.eventCount } : walk.purged,
      erasedPosition,
    };
  }
  return walk;
}

async function faultOf(
  batch: WrittenBatch,
  position: number,
  chainHash: Buffer,
  isErased: boolean,
): Promise<BrokenBatch | null> {
  const { producerId, sequence } = batch;
  const fault = (what: BrokenBatch['what'], expected: unknown, found: unknown): BrokenBatch => {
    return { position, producerId, sequence, what, expected: String(expected), found: String(found) };
  };
  if (batch.firstPosition !== position) return fault('position', position, batch.firstPosition);
  const wrong = isErased ? null : await faultOfPayload(batch);
  if (wrong) return fault(wrong.what, wrong.expected, wrong.found);
  if (!chainHash.equals(batch.chainHash)) {
    return fault('chain hash', chainHash.toString('hex'), batch.chainHash.toString('hex'));
  }
  return null;
}

async function faultOfPayload({
  payload,
  size,
  payloadSha256,
  eventCount,
}: WrittenBatch): Promise<{ what: BrokenBatch['what']; expected: unknown; found: unknown } | null> {
  let ndjson: Buffer;
  try {
    ndjson = await decompress(payload, size);
  } catch (error) {
    return { what: 'payload', expected: `${size} bytes of NDJSON`, found: messageOf(error) };
  }
  if (ndjson.length !== size)
    return { what: 'payload', expected: `${size} bytes of NDJSON`, found: `${ndjson.length} bytes` };
  const sha256 = hash('sha256', ndjson, 'hex');
  const promised = payloadSha256.toString('hex');
  if (sha256 !== promised) return { what: 'payload hash', expected: promised, found: sha256 };
  const lines = startsOfLines(ndjson).length - 1;
  if (lines !== eventCount) return { what: 'event count', expected: eventCount, found: lines };
  return null;
}

function faultOfHead(head: WrittenHead, position: number, chainHash: Buffer): BrokenBatch | null {
  if (head.nextPosition === position && head.chainHash.equals(chainHash)) return null;
  const shown = (at: number, hash: Buffer) => `position ${at}, chain hash ${hash.toString('hex')}`;
  return {
    position,
    producerId: null,
    sequence: null,
    what: 'head',
    expected: shown(head.nextPosition, head.chainHash),
    found: shown(position, chainHash),
  };
}

/** Where the batch that ends at a position begins, and the chain up to its end. */
async function endOfBatch(db: Queryable, runId: string, position: number): Promise<typeof START> {
  const { rows } = await db.query<{ after: number; end: number; chainHash: Buffer }>(
    `select first_position::float8 as after, (first_position + event_count)::float8 as "end", chain_hash as "chainHash"
     from event_batch where run_id = $1 and first_position < $2 order by first_position desc limit 1`,
    [runId, position],
  );
  if (rows[0]?.end === position) return { position, after: rows[0].after, chainHash: rows[0].chainHash };
  throw new RecreditError('request.invalid', `from: where a batch begins was wanted, found ${position}`);
}

/** The head and the last batch, in one snapshot: what comes later belongs to neither. */
async function headWithLast(db: Queryable, runId: string): Promise<WrittenHead> {
  const { rows } = await db.query<WrittenHead>(
    `select coalesce(next_position, 0)::float8 as "nextPosition", coalesce(chain_hash, sha256('')) as "chainHash",
       (select max(first_position)::float8 from event_batch where run_id = $1) as "lastPosition",
       erased_position::float8 as "erasedPosition"
     from run left join run_stream on run_id = id where id = $1`,
    [runId],
  );
  if (rows.length === 0) throw new RecreditError('run.unknown', `no run has the id ${runId}`);
  return rows[0];
}

async function pageAfter(
  db: Queryable,
  runId: string,
  after: number,
  last: number,
  { pageBatches, pageBytes }: PageSize,
): Promise<WrittenBatch[]> {
  return rowsWithBytes<WrittenBatch>(
    db,
    `select first_position::float8 as "firstPosition", event_count as "eventCount", producer_id as "producerId",
       batch_sequence as sequence, payload, payload_size as size, payload_sha256 as "payloadSha256",
       chain_hash as "chainHash"
     from (
       select *, sum(payload_size) over (order by first_position) - payload_size as size_before
       from event_batch
       where run_id = $1 and first_position > $2 and first_position <= $3
       order by first_position limit $4
     ) as page
     where size_before < $5
     order by first_position`,
    [runId, after, last, pageBatches, pageBytes],
    WRITTEN,
  );
}
