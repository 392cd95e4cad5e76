import type { Device } from './device.js';
import { noGpu } from './gpu-hint.js';

/** What tensorflow.js asks an adapter for. */
const LIMITS = [
  'maxComputeWorkgroupStorageSize',
  'maxComputeWorkgroupsPerDimension',
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeWorkgroupSizeX',
  'maxComputeInvocationsPerWorkgroup',
] as const;
/** 1 GiB, if the adapter allows it. */
const MOST_ELEMENTS = 2 ** 28;
/** MatMulPackedProgram of tensorflow.js, whose sums have an order. */
const PACKED = 3;
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i;

/**
 * A GPU through WebGPU: Dawn (npm `webgpu`) drives it by Vulkan, Metal or Direct3D.
 *
 * tensorflow.js binds its kernels to the name `webgpu` and would make its own backend of that name from a browser's
 * `navigator.gpu`. Here it gets one that stands on Dawn's device.
 *
 * @throws where the package is not installed, or there is no adapter
 */
export async function openWebgpu(): Promise<Device> {
  const absent = noGpu();
  if (absent) throw new Error(absent);
  const { create, globals } = await dawn();
  Object.assign(globalThis, globals);
  const gpu = create([]);
  const navigator = (globalThis.navigator ?? {}) as object;
  if (!globalThis.navigator) Object.defineProperty(globalThis, 'navigator', { value: navigator, configurable: true });
  Object.defineProperty(navigator, 'gpu', { value: gpu, configurable: true });
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error('no adapter: no GPU, or no Vulkan, Metal or Direct3D driver for it');

  const tf = await import('@tensorflow/tfjs-core');
  const { WebGPUBackend } = await import('@tensorflow/tfjs-backend-webgpu');
  const { limits, info, features } = adapter;
  const device = await adapter.requestDevice({
    requiredLimits: Object.fromEntries(LIMITS.map((name) => [name, limits[name]])),
    requiredFeatures: features.has('timestamp-query') ? ['timestamp-query'] : [],
  });
  // left alone it splits products over 2,000 and more numbers, and adds the parts by atomics, in any order: other bits each time
  tf.env().set('WEBGPU_MATMUL_PROGRAM_TYPE', PACKED);
  tf.removeBackend('webgpu');
  tf.registerBackend('webgpu', () => new WebGPUBackend(device, info));
  const activate = async () => {
    if (!(await tf.setBackend('webgpu'))) throw new Error('the WebGPU backend does not start');
  };
  await activate();
  const name = [info.vendor, info.architecture, info.description || info.device].filter(Boolean).join(', ');
  return {
    id: 'webgpu',
    description: name || 'an adapter without a name',
    tf,
    maxElements: Math.min(MOST_ELEMENTS, limits.maxBufferSize / 4, limits.maxStorageBufferBindingSize / 4),
    isSoftware: SOFTWARE.test(name),
    activate,
  };
}

async function dawn() {
  try {
    return await import('webgpu');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new Error(`the npm package webgpu cannot be loaded: ${why}`, { cause });
  }
}
