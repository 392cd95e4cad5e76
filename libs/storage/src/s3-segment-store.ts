import { createHash, hash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { ownMemory, type Allocate } from './read-whole.js';
import { DamagedOnTheWay, isDeleteMarker, isMissingKey, s3Failure } from './s3-failure.js';
import type { S3Place } from './s3-place.js';
import { checkKey, isKey, missingSegment, type SegmentStore } from './segment-store.js';

/** What is used of the AWS SDK, which is loaded only where a bucket is named. */
export type S3Sdk = typeof import('@aws-sdk/client-s3');

export interface S3Options {
  /** how long a request is tried again that may go well */
  readonly patienceMs?: number;
  /** false: what is read leaves none here, as where all of it is read once */
  readonly copies?: boolean;
  /** a connection on which nothing moves for so long is given up */
  readonly silenceMs?: number;
}

/** Somebody may wait for the answer, or hold a transaction open for it. */
const PATIENCE_MS = 5_000;
const SILENCE_MS = 10_000;
const CONNECT_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** What arrives changed so often was stored so. */
const READS_OF_DAMAGED = 3;

/**
 * A bucket as segment store, at Amazon or any service that speaks S3.
 *
 * A file is one object, put by one request: a bucket shows all of it or nothing, and no parts stay behind. The request is signed over the
 * sha256 of the file, so a bucket refuses what changed on the way; the object carries the same hash, and what is read is checked against it.
 */
export class S3SegmentStore implements SegmentStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #patienceMs: number;

  constructor(
    private readonly sdk: S3Sdk,
    { bucket, prefix, endpoint, region, pathStyle }: S3Place,
    { patienceMs = PATIENCE_MS, silenceMs = SILENCE_MS }: S3Options = {},
  ) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#patienceMs = patienceMs;
    this.#client = new sdk.S3Client({
      ...(endpoint && { endpoint }),
      ...(region && { region }),
      forcePathStyle: pathStyle,
      followRegionRedirects: true,
      maxAttempts: 1, // tried again here, where reading the body counts too
      // ours are in the signature and beside the object: services that are not Amazon's do not all know others
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: silenceMs },
    });
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const place = this.#place(key);
    await this.#trying('to write', () => this.#put(place, bytes));
  }

  get(key: string, allocate?: Allocate): Promise<Uint8Array> {
    return this.#read(key, {}, allocate);
  }

  getPart(key: string, from: number, to = Infinity, allocate?: Allocate): Promise<Uint8Array> {
    const Range = `bytes=${from}` + (from < 0 ? '' : to === Infinity ? '-' : `-${to - 1}`);
    return this.#read(key, { Range }, allocate);
  }

  async #read(key: string, part: { readonly Range?: string }, allocate: Allocate = ownMemory): Promise<Uint8Array> {
    const place = { ...this.#place(key), ...part };
    let taken: Uint8Array | null = null;
    const again: Allocate = (size) => (taken = taken?.length === size ? taken : allocate(size));
    let damaged = 0;
    return this.#trying('to read', async () => {
      try {
        return await this.#get(place, again);
      } catch (error) {
        if (isMissingKey(error)) throw missingSegment(key, error);
        if (error instanceof DamagedOnTheWay && ++damaged >= READS_OF_DAMAGED) throw damagedSegment(key, error);
        throw error;
      }
    });
  }

  async exists(key: string): Promise<boolean> {
    return (await this.#head(key)).isThere;
  }

  async list(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    for (let token: string | undefined, isLast = false; !isLast;) {
      const page = await this.#trying('to list', () =>
        this.#client.send(
          new this.sdk.ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            ContinuationToken: token,
          }),
        ),
      );
      for (const { Key = '' } of page.Contents ?? []) keys.push(Key.slice(this.#prefix.length));
      token = page.NextContinuationToken;
      isLast = !token;
    }
    return keys.filter(isKey).toSorted();
  }

  /** Not tried again: who asks wants to know how it is now. */
  async probe(): Promise<void> {
    // no key begins so: what a killed process leaves is never listed
    const place = { Bucket: this.#bucket, Key: `${this.#prefix}.probe/${randomBytes(6).toString('hex')}` };
    try {
      const { VersionId } = await this.#put(place, Buffer.from('x'));
      await this.#client.send(new this.sdk.DeleteObjectCommand({ ...place, ...(VersionId && { VersionId }) }));
    } catch (error) {
      throw s3Failure(error, 'to write and delete').error;
    }
  }

  /** Of a bucket with versions all of them: what is deleted is gone. */
  async delete(key: string): Promise<void> {
    const place = this.#place(key);
    const { isThere, isVersioned } = await this.#head(key);
    if (!isThere && !isVersioned) return;
    // the newest last: of a key that is half deleted whoever still reads it reads the same
    for (const VersionId of isVersioned ? await this.#versions(place.Key) : [undefined]) {
      await this.#trying('to delete', () =>
        this.#client.send(new this.sdk.DeleteObjectCommand({ ...place, ...(VersionId && { VersionId }) })),
      );
    }
  }

  async #put(place: { Bucket: string; Key: string }, bytes: Uint8Array) {
    const sha256 = hash('sha256', bytes, 'hex');
    const input: PutObjectCommandInput = { ...place, Body: bytes, Metadata: { sha256 } };
    const command = new this.sdk.PutObjectCommand(input);
    // what the SDK would otherwise compute a second time to sign it
    command.middlewareStack.add(
      (next) => (args) => {
        (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256;
        return next(args);
      },
      { step: 'build', name: 'recreditContentSha256' },
    );
    return this.#client.send(command);
  }

  async #get(place: { Bucket: string; Key: string; Range?: string }, allocate: Allocate): Promise<Uint8Array> {
    const { Body, ContentLength = 0, Metadata } = await this.#client.send(new this.sdk.GetObjectCommand(place));
    const bytes = allocate(ContentLength);
    const sha256 = createHash('sha256');
    let length = 0;
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      if (length + chunk.length > bytes.length) throw new DamagedOnTheWay('more bytes came than were said');
      bytes.set(chunk, length);
      sha256.update(chunk);
      length += chunk.length;
    }
    if (length < bytes.length) throw new DamagedOnTheWay(`${length} of ${bytes.length} bytes came`);
    if (place.Range) return bytes;
    const found = sha256.digest('hex');
    // none where somebody else copied the file into the bucket
    const { sha256: wanted = found } = Metadata ?? {};
    if (found !== wanted) throw new DamagedOnTheWay(`bytes with the sha256 ${wanted} were wanted, ${found} came`);
    return bytes;
  }

  /** What was deleted by others may have versions yet. */
  async #head(key: string): Promise<{ readonly isThere: boolean; readonly isVersioned: boolean }> {
    const place = this.#place(key);
    return this.#trying('to read', async () => {
      try {
        const { VersionId } = await this.#client.send(new this.sdk.HeadObjectCommand(place));
        return { isThere: true, isVersioned: VersionId !== undefined };
      } catch (error) {
        if (!isMissingKey(error)) throw error;
        // HEAD has no words for a bucket that is not there
        await this.#client.send(new this.sdk.HeadBucketCommand({ Bucket: this.#bucket }));
        return { isThere: false, isVersioned: isDeleteMarker(error) };
      }
    });
  }

  /** Of one key, marks that it was deleted among them, the newest last. */
  async #versions(key: string): Promise<string[]> {
    const older: string[] = [];
    const newest: string[] = [];
    let KeyMarker: string | undefined;
    let VersionIdMarker: string | undefined;
    do {
      const page = await this.#trying('to list versions', () =>
        this.#client.send(
          new this.sdk.ListObjectVersionsCommand({ Bucket: this.#bucket, Prefix: key, KeyMarker, VersionIdMarker }),
        ),
      );
      for (const { Key, VersionId, IsLatest } of [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])]) {
        if (Key === key && VersionId) (IsLatest ? newest : older).push(VersionId);
      }
      KeyMarker = page.IsTruncated ? page.NextKeyMarker : undefined;
      VersionIdMarker = page.NextVersionIdMarker;
    } while (KeyMarker !== undefined);
    return [...older, ...newest];
  }

  /** Tries again what may go well, with longer and longer pauses. */
  async #trying<T>(doing: string, request: () => Promise<T>): Promise<T> {
    const end = performance.now() + this.#patienceMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await request();
      } catch (error) {
        if (error instanceof RecreditError) throw error;
        const failure = s3Failure(error, doing);
        if (!failure.isTransient || performance.now() + pause > end) throw failure.error;
        await sleep(pause * (0.5 + Math.random() / 2));
      }
    }
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + checkKey(key) };
  }
}

const damagedSegment = (key: string, cause: unknown) =>
  new RecreditError('segment.damaged', `${key} in the segment store is not what was written`, { key }, { cause });
