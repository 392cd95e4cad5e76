import { segmentMoments } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { implicitReward, negativeLogSigmoid } from '../implicit-reward.js';
import { LEAF_OUTCOME } from '../leaf-outcomes.js';
import { pairColumn, siblingPairs, turnNames } from '../preference-pairs.js';
import { silenced } from '../silenced.js';
import { gains, NO_LEAF, nodeMeans, onTurns, trajectoryTree } from '../trajectory-tree.js';

const StepQParams = z.strictObject({
  beta: z.number().nonnegative().default(0.1).describe('inverse temperature of the implicit Q'),
  pairRule: z
    .enum(['bestVsWorst', 'bestVsRest'])
    .default('bestVsWorst')
    .describe('which turns that left the same node train the Q model as a pair'),
  minGap: z.number().nonnegative().default(0).describe('values of a pair differ by at least this much'),
  source: z
    .enum(['leaves', 'signal'])
    .default('leaves')
    .describe('Q is the mean outcome of the trajectories through the turn, or the signal qValue'),
});

/**
 * Step-level Q-values: what a turn is worth more than the turns that were taken from the same node, as often as each was.
 *
 *     Q[n] = mean outcome of the trajectories through n, or qValue
 *     A[n] = Q[n] − Σ_c L[c] Q[c] / Σ_c L[c]      over the turns c that left the same node; L: trajectories through c
 *     Q̂[n] = β Σ (logprob − refLogprob)           the implicit Q of a model trained on the pairs, where both are logged
 */
export const stepQ = defineEstimator({
  id: 'step-q',
  version: 1,
  title: 'Step-level Q-values',
  citation: { paper: 'arXiv:2409.09345' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: ['token.logprob', 'token.refLogprob', 'token.mask'],
  conditional: [LEAF_OUTCOME, { when: { source: 'signal' }, requires: ['turn.qValue'] }],
  params: StepQParams,
  estimate(trajectories, columns, { beta, pairRule, minGap, source }) {
    const tree = trajectoryTree(trajectories);
    const { mean, leaves } = nodeMeans(tree, columns['trajectory.outcomeReward'], 'leaves');
    const isSilent = (t: number) => leaves[tree.nodeOf[t]] === 0;
    const q = source === 'leaves' ? mean : Float64Array.from(tree.turnOf, (row) => (row < 0 ? NaN : columns['turn.qValue'][row])); // prettier-ignore
    const taken = leaves.map((count, n) => (tree.parentNode[n] < 0 ? 0 : count));
    const ofSiblings = segmentMoments(q, taken, tree.parentNode, tree.nodeCount).mean;
    const advantage =
      source === 'leaves' ? gains(tree, q) : q.map((value, n) => value - ofSiblings[tree.parentNode[n]]);

    const pairs = siblingPairs(tree, q.map((value, n) => (leaves[n] === 0 ? NaN : value)), pairRule, minGap); // prettier-ignore
    const nameOf = turnNames(trajectories, tree);
    const { 'token.logprob': logprob, 'token.refLogprob': reference, 'token.mask': mask } = columns;
    const implicit = logprob && reference && implicitReward(logprob, reference, trajectories.tokenOffsets, mask, beta);
    const gapOf = (perTurn: Float64Array) =>
      pairs.map(({ chosen, rejected }) => perTurn[tree.turnOf[chosen]] - perTurn[tree.turnOf[rejected]]);
    const level = 'turn';
    return {
      level,
      ...silenced(onTurns(tree, advantage), NO_LEAF, isSilent),
      explain: {
        nodeValue: { level, values: silenced(onTurns(tree, q), NO_LEAF, isSilent).values },
        chosen: pairColumn(pairs.map(({ chosen }) => nameOf(chosen))),
        rejected: pairColumn(pairs.map(({ rejected }) => nameOf(rejected))),
        pairGap: pairColumn(pairs.map(({ chosen, rejected }) => q[chosen] - q[rejected])),
        ...(implicit && {
          implicitQ: { level, values: implicit },
          pairLoss: pairColumn(gapOf(implicit).map(negativeLogSigmoid)),
        }),
      },
      warnings: tree.warnings,
    };
  },
});
