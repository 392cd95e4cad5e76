import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS } from '../group-advantage.js';
import { processSupervision } from '../process-supervision.js';

const GrpoProcessParams = z.strictObject({
  ...GROUP_PARAMS,
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a single turn in all of a group keeps its score ('raw') or gets 0 ('zero')"),
});

/**
 * Process supervision of GRPO: normalised scores of the turns from here on (processSupervision).
 *
 *     A[t] = Σ_{u ≥ t} (p[u] − mean_g p) / (std_g p + ε)      over all turns of the group, ddof = 1
 */
export const grpoProcess = defineEstimator({
  id: 'grpo-process',
  version: 1,
  title: 'Process supervision (GRPO, DeepSeekMath)',
  citation: { paper: 'arXiv:2402.03300' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.processReward'],
  accepts: [],
  params: GrpoProcessParams,
  estimate(trajectories, columns, params) {
    const { normalized, advantage } = processSupervision(columns['turn.processReward'], trajectories, params);
    const level = 'turn';
    return { level, values: advantage, explain: { normalizedScore: { level, values: normalized } } };
  },
});
