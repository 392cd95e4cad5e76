import type { AnyEstimator } from '../estimator.js';
import { discountedReturn } from './discounted-return.js';
import { gae } from './gae.js';
import { gigpo } from './gigpo.js';
import { grpo } from './grpo.js';
import { hgpo } from './hgpo.js';
import { litePpo } from './lite-ppo.js';
import { reinforcePlusPlus } from './reinforce-plus-plus.js';
import { rloo } from './rloo.js';

/** The catalogue is a value: adding an estimator is its file and one line here. */
export const ESTIMATORS: readonly AnyEstimator[] = [
  grpo,
  rloo,
  reinforcePlusPlus,
  litePpo,
  discountedReturn,
  gae,
  gigpo,
  hgpo,
];
