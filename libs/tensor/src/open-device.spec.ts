import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { Device, DeviceId } from './device.js';
import { noGpu } from './gpu-hint.js';
import { Devices, probeDevices, type OpenDevice } from './open-device.js';

const absent = (why: string) => async () => {
  throw new Error(why);
};
const there =
  (id: DeviceId, isSoftware = false): OpenDevice =>
  async () =>
    ({ id, description: `a ${id}`, isSoftware }) as Device;

const NO_GPU = { cuda: absent('not installed'), webgpu: absent('no adapter'), wasm: there('wasm') };

describe('Devices', () => {
  it('takes the first that is there', async () => {
    expect((await new Devices('auto', NO_GPU).current()).id).toBe('wasm');
    expect((await new Devices('auto', { ...NO_GPU, webgpu: there('webgpu') }).current()).id).toBe('webgpu');
  });

  it('leaves a software adapter out, unless it is asked for', async () => {
    const open = { ...NO_GPU, webgpu: there('webgpu', true) };
    expect((await new Devices('auto', open).current()).id).toBe('wasm');
    expect((await new Devices('webgpu', open).current()).id).toBe('webgpu');
  });

  it('says what it tried where the wish cannot be met', async () => {
    await expect(new Devices('cuda', NO_GPU).current()).rejects.toMatchObject({
      code: 'device.unavailable',
      message: 'RECREDIT_DEVICE=cuda: no such device here (cuda: not installed)',
    });
  });

  it('goes on to the next when one fails, and not where one was asked for', async () => {
    const open = { ...NO_GPU, webgpu: there('webgpu') };
    const devices = new Devices('auto', open);
    expect(devices.fail(await devices.current(), 'lost')).toBe(true);
    expect((await devices.current()).id).toBe('wasm');
    const only = new Devices('webgpu', open);
    expect(only.fail(await only.current(), 'lost')).toBe(false);
    await expect(only.current()).rejects.toThrow('webgpu: lost');
  });
});

describe('probeDevices', () => {
  it('reports all of them, and which one is taken', async () => {
    const open = { ...NO_GPU, webgpu: there('webgpu', true) };
    expect(await probeDevices('auto', open)).toEqual([
      { id: 'cuda', isThere: false, chosen: false, found: 'not installed' },
      { id: 'webgpu', isThere: true, chosen: false, found: expect.stringContaining('a software adapter') },
      { id: 'wasm', isThere: true, chosen: true, found: 'a wasm' },
    ]);
    expect((await probeDevices('webgpu', open)).map(({ chosen }) => chosen)).toEqual([false, true, false]);
  });

  it('finds wasm here, and no cuda, which is no dependency', async () => {
    const reports = await probeDevices('wasm');
    expect(reports[2]).toMatchObject({ id: 'wasm', isThere: true, chosen: true });
    expect(reports[0].found).toBe('@tensorflow/tfjs-node-gpu is not installed');
  });
});

it('a driver that is named is tried, whatever devices there are', () => {
  vi.stubEnv('VK_DRIVER_FILES', '/some/driver.json');
  expect(noGpu()).toBeNull();
  vi.unstubAllEnvs();
  vi.stubEnv('VK_DRIVER_FILES', '');
  vi.stubEnv('VK_ICD_FILENAMES', '');
  const isHere = ['/dev/dri', '/dev/nvidia0', '/dev/dxg'].some((node) => existsSync(node));
  expect(noGpu() === null).toBe(process.platform !== 'linux' || isHere);
  vi.unstubAllEnvs();
});

it('no file loads tensorflow.js when it is imported', () => {
  const statically = /^(import (?!type)|export (?!type)).* from '(@tensorflow|webgpu)/m;
  const files = globSync('libs/tensor/src/*.ts').filter((file) => !file.endsWith('.spec.ts'));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) expect(readFileSync(file, 'utf8'), file).not.toMatch(statically);
});
