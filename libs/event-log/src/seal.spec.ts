import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chain, CHAIN_START } from './chain.js';
import { sealBatch } from './seal.js';

const wanted = { producerId: 'p', epoch: 0, sequence: 0, ndjson: Buffer.from('abc'), eventCount: 1 };

describe('sealBatch', () => {
  it('hashes the bytes as they came and keeps them whole', async () => {
    const sealed = await sealBatch(wanted);
    // FIPS 180-2, example B.1
    expect(sealed.sha256.toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(zstdDecompressSync(sealed.payload).toString()).toBe('abc');
    expect(sealed).toMatchObject({ producerId: 'p', epoch: 0, sequence: 0, eventCount: 1, size: 3, codec: 'zstd' });
  });

  it("keeps the producer's zstd as it came, and not what pads it", async () => {
    const ndjson = Buffer.from('{"a":1}\n'.repeat(500));
    const own = zstdCompressSync(ndjson, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
    const sha256 = createHash('sha256').update(ndjson).digest();
    const kept = await sealBatch({ ...wanted, ndjson, known: { zstd: own, sha256 } });
    expect(kept.payload).toBe(own);
    expect(kept.sha256).toBe(sha256);

    const skipped = Buffer.alloc(8 + 3000); // a skippable frame, which decompresses to nothing
    skipped.writeUInt32LE(0x184d2a50, 0);
    skipped.writeUInt32LE(3000, 4);
    const padded = Buffer.concat([own, skipped]);
    expect(zstdDecompressSync(padded)).toEqual(ndjson);
    const { payload } = await sealBatch({ ...wanted, ndjson, known: { zstd: padded } });
    expect(payload.length).toBeLessThan(200);
    expect(zstdDecompressSync(payload)).toEqual(ndjson);
  });

  it.each([
    ['no producer id', { producerId: '' }, 'request.invalid'],
    ['a producer id that Postgres cannot store', { producerId: 'a\u0000b' }, 'request.invalid'],
    ["the platform's own producer id", { producerId: 'recredit' }, 'request.invalid'],
    ['a negative sequence', { sequence: -1 }, 'request.invalid'],
    ['half a sequence', { sequence: 0.5 }, 'request.invalid'],
    ['an epoch beyond an integer', { epoch: 2 ** 31 }, 'request.invalid'],
    ['no event', { eventCount: 0 }, 'request.invalid'],
    ['more than 16 MiB', { ndjson: new Uint8Array(16 * 1024 * 1024 + 1) }, 'batch.too-large'],
  ])('refuses %s', async (_, change, code) => {
    await expect(sealBatch({ ...wanted, ...change })).rejects.toMatchObject({ code });
  });
});

describe('chain', () => {
  it('starts at the hash of nothing and binds each batch to all before it', () => {
    expect(CHAIN_START.toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    // echo -n of the two hashes above as bytes, piped through sha256sum
    const abc = Buffer.from('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 'hex');
    expect(chain(CHAIN_START, abc).toString('hex')).toBe(
      'bddbdf7e9df02f902ee5dd61b2b513d7566a2112ff97db7dc3b6d184a43ef0e3',
    );
  });
});
