/** tensorflow.js, loaded. Kernels are handed it by their device, so that naming a kernel loads nothing. */
export type Tf = typeof import('@tensorflow/tfjs-core');

/** In the order in which `auto` tries them. */
export const DEVICE_IDS = ['cuda', 'webgpu', 'wasm'] as const;
export type DeviceId = (typeof DEVICE_IDS)[number];

/** What the operator asks for: `auto` takes the first device that is there. */
export type DeviceWish = 'auto' | DeviceId;

/** Something that computes tensors in float32, opened. */
export interface Device {
  readonly id: DeviceId;
  /** the adapter's name, or what stands for it */
  readonly description: string;
  readonly tf: Tf;
  /** elements of float32 that one tensor may have; kernels cut their batches by it */
  readonly maxElements: number;
  /** a software adapter: it is there for tests, and slower than wasm */
  readonly isSoftware: boolean;
  /** Makes it the one that operations run on: tensorflow.js has one at a time in a thread. */
  activate(): Promise<void>;
}
