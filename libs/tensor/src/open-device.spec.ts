import { existsSync, globSync, readFileSync } from 'node:fs';
import { RecreditError } from '#lib/kernel';
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

  it('opens a device once, however many ask for it at the same time', async () => {
    const wasm = vi.fn(there('wasm'));
    const devices = new Devices('auto', { ...NO_GPU, wasm });
    const [a, b] = await Promise.all([devices.current(), devices.current()]);
    expect(a).toBe(b);
    expect(wasm).toHaveBeenCalledTimes(1);
  });

  it('says what it tried where the wish cannot be met', async () => {
    await expect(new Devices('cuda', NO_GPU).current()).rejects.toMatchObject({
      code: 'device.unavailable',
      message: 'RECREDIT_DEVICE=cuda: no such device here (cuda: not installed)',
    });
  });

  const lost = async (device: Device) => {
    if (device.id === 'webgpu') throw new Error('lost');
    return device.id;
  };

  it('computes on the next when one fails, says so, and stays there', async () => {
    const devices = new Devices('auto', { ...NO_GPU, webgpu: there('webgpu') });
    const warnings = ['webgpu failed (lost): computed on wasm'];
    expect(await devices.compute(lost)).toEqual({ value: 'wasm', device: 'wasm', warnings });
    expect(await devices.compute(lost)).toEqual({ value: 'wasm', device: 'wasm', warnings: [] });
  });

  it('gives up where one was asked for, and after the second', async () => {
    const open = { cuda: there('cuda'), webgpu: there('webgpu'), wasm: there('wasm') };
    const only = new Devices('webgpu', open);
    await expect(only.compute(lost)).rejects.toThrow('webgpu failed (lost)');
    await expect(only.current()).rejects.toThrow('webgpu: lost');
    const full = () => Promise.reject(new Error('memory is full'));
    const failures = 'cuda failed (memory is full); webgpu failed (memory is full)';
    await expect(new Devices('auto', open).compute(full)).rejects.toThrow(failures);
  });

  it('does not blame the device for what is wrong with the work', async () => {
    const devices = new Devices('auto', { ...NO_GPU, webgpu: there('webgpu') });
    const wrong = () => Promise.reject(new RecreditError('request.invalid', 'no such thing'));
    await expect(devices.compute(wrong)).rejects.toThrow('no such thing');
    expect((await devices.current()).id).toBe('webgpu');
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
