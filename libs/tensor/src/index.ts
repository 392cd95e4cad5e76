export { cosineClusters, type GroupedRows } from './cosine-clusters.js';
export { DEVICE_IDS, type Device, type DeviceId, type DeviceWish } from './device.js';
export type { FitOptions, TrainingSet } from './fit-weights.js';
export { nearestRows, type Nearest } from './nearest-rows.js';
export {
  networkOutputs,
  trainNetwork,
  type Loss,
  type Network,
  type Trained,
  type TrainingOptions,
} from './network.js';
export { normalEquations, type NormalEquations } from './normal-equations.js';
export { Devices, probeDevices, type Computed, type DeviceReport } from './open-device.js';
export {
  recurrentOutputs,
  trainRecurrent,
  type RecurrentNetwork,
  type RecurrentOptions,
  type TrainedRecurrent,
} from './recurrent-network.js';
export { FEATURE_WIDTH, textFeatures } from './text-features.js';
export { chosenRows, type Rows } from './rows.js';
export { documentFrequencies, termWeights, type DocumentFrequencies } from './text-terms.js';
