import { Devices } from '#lib/tensor';
import { afterAll, expect } from 'vitest';
import type { Device, DeviceId, Tf } from '../../libs/tensor/src/device.js';
import type { Rows } from '../../libs/tensor/src/rows.js';

/** The device that kernels are checked on: the same checks on wasm here, and wherever test/e2e/webgpu.e2e-spec.ts sends them. */
export const TESTED = (process.env.RECREDIT_TEST_DEVICE ?? 'wasm') as DeviceId;

/** The device, opened. When the specs of the file are through, every tensor has to be given back. */
export async function testedDevice(): Promise<Device> {
  const device = await new Devices(TESTED).current();
  const before = device.tf.memory().numTensors;
  afterAll(() => expect(device.tf.memory().numTensors, 'every tensor is given back').toBe(before));
  return device;
}

/** The device as one whose largest tensor is small, and how large the largest tensor was that it made. */
export function limited(device: Device, maxElements: number): { device: Device; largest: () => number } {
  let largest = 0;
  const watched = new Proxy(device.tf, {
    get(tf, name: keyof Tf) {
      const operation: unknown = tf[name];
      if (typeof operation !== 'function') return operation;
      return (...args: unknown[]) => {
        const made: unknown = operation.apply(tf, args);
        for (const each of [made].flat()) if (each instanceof tf.Tensor) largest = Math.max(largest, each.size);
        return made;
      };
    },
  });
  return { device: { ...device, tf: watched, maxElements }, largest: () => largest };
}

/** The device, on which an operation fails from some call on. */
export function failing(device: Device, name: keyof Tf, from: number): Device {
  let calls = 0;
  const tf = new Proxy(device.tf, {
    get: (target, wanted: keyof Tf) =>
      wanted === name && ++calls >= from
        ? () => {
            throw new Error('device lost');
          }
        : target[wanted],
  });
  return { ...device, tf };
}

export const rowOf = ({ values, width }: Rows, row: number) => values.subarray(row * width, (row + 1) * width);

export const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, k) => sum + value * b[k], 0);
