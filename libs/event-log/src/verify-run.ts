import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { messageOf, RecreditError } from '#lib/kernel';
import { chain, CHAIN_START } from './chain.js';
import type { Queryable } from './queryable.js';
import { startsOfLines } from './unpack.js';

const decompress = promisify(zstdDecompress);
const PAGE_BATCHES = 256;
const PAGE_BYTES = 32 * 1024 * 1024;

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

export interface VerifyOptions {
  readonly pageBatches?: number;
  readonly onProgress?: (eventsDone: number, eventsInAll: number) => void;
}

interface WrittenBatch {
  readonly firstPosition: number;
  readonly eventCount: number;
  readonly producerId: string;
  readonly sequence: number;
  readonly payload: Buffer;
  readonly size: number;
  readonly payloadSha256: Buffer;
  readonly chainHash: Buffer;
}

interface WrittenHead {
  readonly nextPosition: number;
  readonly chainHash: Buffer;
  readonly lastPosition: number | null;
  readonly erasedPosition: number | null;
}

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
  let walked = { batches: 0, events: 0, bytes: 0 };
  let chainHash = CHAIN_START;
  let after = -1;
  let { erasedPosition } = head;
  const purged = { batches: 0, events: 0 };
  const result = (broken: BrokenBatch | null): Verification => {
    const erased = erasedPosition === null ? null : { ...purged, position: erasedPosition };
    return { runId, ...walked, chainHash: chainHash.toString('hex'), erased, broken };
  };

  while (after < (head.lastPosition ?? -1)) {
    const page = await pageAfter(db, runId, after, head.lastPosition!, pageBatches);
    if (page.length === 0) break;
    for (const batch of page) {
      const next = chain(chainHash, batch.payloadSha256);
      const isEmpty = batch.payload.length === 0;
      // erased since the head was read?
      if (isEmpty && erasedPosition === null) ({ erasedPosition } = await headWithLast(db, runId));
      const isErased = isEmpty && erasedPosition !== null && batch.firstPosition < erasedPosition;
      const broken = await faultOf(batch, walked.events, next, isErased);
      if (broken) return result(broken);
      chainHash = next;
      after = batch.firstPosition;
      if (isErased) {
        purged.batches++;
        purged.events += batch.eventCount;
      }
      walked = {
        batches: walked.batches + 1,
        events: walked.events + batch.eventCount,
        bytes: walked.bytes + batch.size,
      };
    }
    onProgress?.(walked.events, head.nextPosition);
  }
  return result(faultOfHead(head, walked.events, chainHash));
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
    ndjson = await decompress(payload, { maxOutputLength: size });
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
  limit: number,
): Promise<WrittenBatch[]> {
  const { rows } = await db.query<WrittenBatch>(
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
    [runId, after, last, limit, PAGE_BYTES],
  );
  return rows;
}
