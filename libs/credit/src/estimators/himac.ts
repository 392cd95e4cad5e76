import { ownerOf, pairLabels, repeatRows, segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';
import { textKeys } from '../text-keys.js';

const HimacParams = z.strictObject({
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spreads (assumed)'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('zero')
    .describe(
      "a blueprint, or an execution of it, that has no other beside it keeps its value ('raw') or gets 0 ('zero')",
    ),
});

/**
 * HiMAC: a blueprint is judged against the other blueprints of its group, an execution against the others of its blueprint.
 *
 *     U(z)     = mean of R over the trajectories with blueprint z
 *     macro(z) = (U(z) − mean U) / (std U + ε)        over the blueprints of the group, ddof = 1
 *     micro[i] = (R[i] − mean R) / (std R + ε)        over the trajectories with the same blueprint
 *     A[i,t]   = macro where the turn prints the blueprint (role macro), micro where it executes (role micro), else 0
 */
export const himac = defineEstimator({
  id: 'himac',
  version: 1,
  title: 'Hierarchical macro-micro advantages (HiMAC)',
  citation: { paper: 'arXiv:2603.00977' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['trajectory.outcomeReward', 'trajectory.blueprintId', 'turn.role'],
  accepts: [],
  kinds: { 'trajectory.blueprintId': 'text', 'turn.role': 'text' },
  params: HimacParams,
  estimate({ turnOffsets, groupOf, groupCount }, columns, params) {
    const reward = columns['trajectory.outcomeReward'];
    const blueprints = pairLabels(groupOf, textKeys(columns['trajectory.blueprintId']).keys);
    const utility = segmentMoments(reward, null, blueprints.labels, blueprints.count).mean;
    const groupOfBlueprint = new Int32Array(blueprints.count);
    blueprints.labels.forEach((blueprint, i) => (groupOfBlueprint[blueprint] = groupOf[i]));
    const ofBlueprint = standardScores(utility, groupOfBlueprint, groupCount, params);

    const macro = Float64Array.from(blueprints.labels, (blueprint) => ofBlueprint[blueprint]);
    const micro = standardScores(reward, blueprints.labels, blueprints.count, params);
    const role = columns['turn.role'];
    const byRole: Readonly<Record<string, Float64Array>> = { macro, micro };
    const values = Float64Array.from(ownerOf(turnOffsets), (i, t) => byRole[role[t] ?? '']?.[i] ?? 0);
    return {
      level: 'turn',
      values,
      explain: {
        blueprintUtility: {
          level: 'trajectory',
          values: Float64Array.from(blueprints.labels, (blueprint) => utility[blueprint]),
        },
        macroAdvantage: { level: 'turn', values: repeatRows(macro, turnOffsets) },
        microAdvantage: { level: 'turn', values: repeatRows(micro, turnOffsets) },
      },
    };
  },
});
