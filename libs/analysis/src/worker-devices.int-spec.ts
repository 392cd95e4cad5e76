import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase } from '../../../test/support/database.js';
import { areDevicesAsked, askForDevices, recordDevices, workerDevices } from './worker-devices.js';

let db: Awaited<ReturnType<typeof testDatabase>>;

beforeAll(async () => {
  db = await testDatabase();
});

afterAll(() => db.drop());

const wasm = { device: 'wasm', isThere: true, isChosen: true, found: 'WebAssembly with SIMD' };
const cuda = { device: 'cuda', isThere: false, isChosen: false, found: 'not installed' };

it('asks every machine once, and keeps what each found last', async () => {
  expect(await areDevicesAsked(db.pool, 'one')).toBe(false);
  await askForDevices(db.pool);
  expect(await areDevicesAsked(db.pool, 'one')).toBe(true);
  await recordDevices(db.pool, 'one', [cuda, wasm]);
  expect([await areDevicesAsked(db.pool, 'one'), await areDevicesAsked(db.pool, 'two')]).toEqual([false, true]);
  await recordDevices(db.pool, 'two', [{ ...wasm, device: 'auto', isChosen: false, found: 'it ended' }]);

  await askForDevices(db.pool);
  expect([await areDevicesAsked(db.pool, 'one'), await areDevicesAsked(db.pool, 'two')]).toEqual([true, true]);
  await recordDevices(db.pool, 'two', [{ ...wasm, found: 'no SIMD' }]);
  expect(await workerDevices(db.pool)).toMatchObject([
    { host: 'one', ...wasm },
    { host: 'one', ...cuda },
    { host: 'two', ...wasm, found: 'no SIMD' },
  ]);
});
