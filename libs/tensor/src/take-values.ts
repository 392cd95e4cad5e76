import type { Tensor } from '@tensorflow/tfjs-core';

/** The numbers of a tensor, which is given back, also where they cannot be read. */
export const takeValues = (tensor: Tensor): Promise<Float32Array> =>
  tensor.data<'float32'>().finally(() => tensor.dispose());
