import type { Device, Tf } from './device.js';

/** 1 GiB */
const MAX_ELEMENTS = 2 ** 28;
/** Not a dependency: its installation downloads hundreds of MB. The operator installs it. */
const PACKAGE = '@tensorflow/tfjs-node-gpu';

/**
 * An NVIDIA GPU through TensorFlow's own library, where the operator has installed @tensorflow/tfjs-node-gpu.
 *
 * @throws where it is not installed, or does not load
 */
export async function openCuda(): Promise<Device> {
  let tf: Tf;
  try {
    tf = (await import(PACKAGE)) as Tf;
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new Error(isAbsent ? `${PACKAGE} is not installed` : `${PACKAGE} does not load: ${why}`, { cause });
  }
  const activate = async () => {
    if (!(await tf.setBackend('tensorflow'))) throw new Error(`${PACKAGE} does not start`);
  };
  await activate();
  return {
    id: 'cuda',
    description: 'an NVIDIA GPU through TensorFlow',
    tf,
    maxElements: MAX_ELEMENTS,
    isSoftware: false,
    activate,
  };
}
