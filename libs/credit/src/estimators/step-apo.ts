import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { LogprobLevel, logRatios } from '../log-ratios.js';
import { logisticPairLoss, pairColumn, siblingPairs, signedWeights, turnNames } from '../preference-pairs.js';
import { nodeMeans, onTurns, trajectoryTree } from '../trajectory-tree.js';

const StepApoParams = z.strictObject({
  beta: z.number().nonnegative().default(0.1).describe("inverse temperature; the paper's is not known"),
  minGap: z.number().nonnegative().default(0).describe('values of a pair differ by at least this much'),
  source: z
    .enum(['signal', 'leaves'])
    .default('signal')
    .describe('the value of a turn is the signal qValue, or the mean outcome of the trajectories through it'),
  logprobLevel: LogprobLevel.default('token').describe(
    'log-probabilities are logged per turn, or per token and summed',
  ),
});

/**
 * Step-APO of CPL: DPO between sibling turns, its logit shifted by their values, so that pairs far apart push harder.
 *
 *     z    = (β log ratio(w) − V(w)) − (β log ratio(l) − V(l))      w, l: any two turns that left the same node, V(w) > V(l)
 *     loss = −log σ(z);   A[n] = Σ σ(−z) over the pairs where n is w − Σ where it is l
 */
export const stepApo = defineEstimator({
  id: 'step-apo',
  version: 1,
  title: 'Step-level advantage preference optimisation (CPL Step-APO)',
  citation: { paper: 'arXiv:2409.08642' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: [],
  conditional: [
    { when: { source: 'signal' }, requires: ['turn.qValue'] },
    { when: { source: 'leaves' }, unless: 'trajectory.truncated', requires: ['trajectory.outcomeReward'] },
    { when: { logprobLevel: 'turn' }, requires: ['turn.logprob', 'turn.refLogprob'] },
    { when: { logprobLevel: 'token' }, requires: ['token.logprob', 'token.refLogprob'], accepts: ['token.mask'] },
  ],
  params: StepApoParams,
  estimate(trajectories, columns, { beta, minGap, source, logprobLevel }) {
    const tree = trajectoryTree(trajectories);
    const ratios = logRatios(columns, trajectories.tokenOffsets, logprobLevel);
    const ratio = (n: number) => ratios[tree.turnOf[n]];
    const value =
      source === 'leaves'
        ? nodeMeans(tree, columns['trajectory.outcomeReward'], 'leaves').mean
        : Float64Array.from(tree.turnOf, (row) => (row < 0 ? NaN : columns['turn.qValue'][row]));
    const pairs = siblingPairs(tree, value, 'all', minGap);
    const losses = pairs.map(({ chosen: w, rejected: l }) =>
      logisticPairLoss(beta * (ratio(w) - ratio(l)) - (value[w] - value[l])),
    );
    const nameOf = turnNames(trajectories, tree);
    const weights = losses.map(({ weight }) => weight);
    const level = 'turn';
    return {
      level,
      values: onTurns(tree, signedWeights(pairs, weights, tree.nodeCount)),
      explain: {
        nodeValue: { level, values: onTurns(tree, value) },
        chosen: pairColumn(pairs.map(({ chosen }) => nameOf(chosen))),
        rejected: pairColumn(pairs.map(({ rejected }) => nameOf(rejected))),
        pairLoss: pairColumn(losses.map(({ loss }) => loss)),
        pairWeight: pairColumn(weights),
      },
      warnings: tree.warnings,
    };
  },
});
