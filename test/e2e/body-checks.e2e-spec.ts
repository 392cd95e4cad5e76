import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';

// Threads run what is built; in the specs beside the code a batch is checked in the test's own thread.
const BUILT = join(import.meta.dirname, '../../dist/apps/api/src/index.js');

const at = '2026-01-01T00:00:00Z';
const turn = (index: number, more: object = {}) =>
  `${JSON.stringify({ type: 'turn.recorded', at, trajectory: 't', group: 'g', trainingStep: 0, turn: index, ...more })}\n`;
const batch = Buffer.from(Array.from({ length: 300 }, (_, i) => turn(i, { state: 'in a room' })).join(''));
const sha256 = createHash('sha256').update(batch).digest('hex');

let checks: InstanceType<typeof import('#app/api').BodyChecks>;
beforeAll(async () => {
  const { BodyChecks } = (await import(BUILT)) as typeof import('#app/api');
  checks = new BodyChecks();
});
afterAll(() => checks?.close());

it('checks and seals a batch in a thread, however it was encoded, and stores zstd as it came', async () => {
  const zstd = zstdCompressSync(batch);
  const bodies = [
    { body: batch, encoding: 'identity' },
    { body: gzipSync(batch), encoding: 'gzip' },
    { body: zstd, encoding: 'zstd' },
  ] as const;
  const sealed = await Promise.all(bodies.map((body) => checks.check(body)));
  for (const each of sealed) {
    expect({ ...each, payload: null, sha256: each.sha256.toString('hex') }).toEqual({
      eventCount: 300,
      codec: 'zstd',
      size: batch.length,
      sha256,
      payload: null,
    });
    expect(zstdDecompressSync(each.payload).equals(batch)).toBe(true);
  }
  expect(sealed[2].payload.equals(zstd)).toBe(true);
});

it('says what is wrong, as it is said without a thread, and goes on', async () => {
  const said = (body: Buffer, encoding: 'identity' | 'gzip' | 'zstd') =>
    checks.check({ body, encoding }).catch(({ code, message, details }) => ({ code, message, details }));
  const wrong = Buffer.from(turn(0) + turn(2));
  expect(await said(wrong, 'identity')).toMatchObject({
    code: 'events.invalid',
    message: 'line 2 at /turn: expected 1, the next turn of t, found 2',
    details: { issues: [{ line: 2, pointer: '/turn' }] },
  });
  expect(await said(wrong, 'zstd')).toMatchObject({
    code: 'request.invalid',
    message: expect.stringMatching(/^the body does not decode as zstd: /),
  });
  const bomb = zstdCompressSync(Buffer.alloc(100 * 1024 * 1024));
  expect(await said(bomb, 'zstd')).toMatchObject({ code: 'batch.too-large', details: { maximum: 16 * 1024 * 1024 } });
  expect(await checks.check({ body: batch, encoding: 'identity' })).toMatchObject({ eventCount: 300 });
});
