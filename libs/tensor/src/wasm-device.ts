import type { Device } from './device.js';

/** 256 MiB: the whole memory of wasm is 4 GiB. */
const MAX_ELEMENTS = 2 ** 26;

/**
 * The processor through WebAssembly, with SIMD where the processor has it. One thread: tensorflow.js starts none under
 * Node, and the shards of an analysis keep the other cores busy.
 */
export async function openWasm(): Promise<Device> {
  const tf = await import('@tensorflow/tfjs-core');
  await import('@tensorflow/tfjs-backend-wasm');
  const activate = async () => {
    if (!(await tf.setBackend('wasm'))) throw new Error('the WebAssembly backend does not start');
  };
  await activate();
  const simd = await tf.env().getAsync('WASM_HAS_SIMD_SUPPORT');
  return {
    id: 'wasm',
    description: `the processor through WebAssembly, ${simd ? 'SIMD' : 'no SIMD'}, one thread a shard`,
    tf,
    maxElements: MAX_ELEMENTS,
    isSoftware: false,
    activate,
  };
}
