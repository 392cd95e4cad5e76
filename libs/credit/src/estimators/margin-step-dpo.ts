import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { LogprobLevel, logRatios } from '../log-ratios.js';
import { logisticPairLoss, pairColumn, siblingPairs, signedWeights, turnNames, type PairLoss } from '../preference-pairs.js'; // prettier-ignore
import { isPartialSubtree, simpleEditDistance, SyntaxTree, syntaxTreeSimilarity } from '../syntax-tree.js';
import { onTurns, trajectoryTree } from '../trajectory-tree.js';

const MarginStepDpoParams = z.strictObject({
  kind: z
    .enum(['pairLoss', 'astSimilarity'])
    .default('pairLoss')
    .describe('credit by the loss of sibling pairs, or the similarity of syntax trees that the pairs go by'),
  variant: z
    .enum(['margin', 'ratio', 'dpo', 'ipo'])
    .default('margin')
    .describe('the offset of the logit: from the difference or the ratio of the similarities; none; or the IPO loss'),
  beta: z.number().positive().default(0.1).describe('inverse temperature; the reference has no default'),
  marginWeight: z.number().default(1).describe('of the offset'),
  labelSmoothing: z.number().min(0).max(0.5).default(0).describe('variant dpo: share of labels that may be wrong'),
  logprobLevel: LogprobLevel.default('turn').describe('log-probabilities are logged per turn, or per token and summed'),
  nodeCountWeight: z.number().default(0.7).describe('astSimilarity: weight of the share of nodes'),
  editDistanceWeight: z.number().default(0.3).describe('astSimilarity: weight of the edit distance'),
});
type Params = z.infer<typeof MarginStepDpoParams>;

/**
 * The loss of one pair.
 *
 *     margin, ratio:  −log σ(β d − marginWeight · m)      m = log(s_w − s_l), log(s_w / s_l)
 *     dpo:            −(1 − ls) log σ(β d) − ls log σ(−β d)
 *     ipo:            (d − 1 / (2 β))²
 *
 * The weight is minus the derivative by β d.
 *
 * @param d how much the policy prefers the chosen turn, over the reference: difference of the log ratios
 * @param better, worse similarities; what has no logarithm gives NaN
 */
export function marginPairLoss(d: number, better: number, worse: number, params: Params): PairLoss {
  const { variant, beta, marginWeight, labelSmoothing } = params;
  if (variant === 'ipo') {
    const short = 1 / (2 * beta) - d;
    return { loss: short ** 2, weight: (2 * short) / beta };
  }
  if (variant === 'dpo') return logisticPairLoss(beta * d, labelSmoothing);
  return logisticPairLoss(beta * d - marginWeight * Math.log(variant === 'margin' ? better - worse : better / worse));
}

/**
 * LearNAT: DPO between sibling turns, offset by how much closer the chosen one's syntax tree is to the whole.
 *
 *     A[n] = Σ weight over the pairs where n was chosen − Σ where it was rejected      by marginPairLoss
 *
 * Pairs: any two turns that left the same node, the one of the higher astSimilarity chosen. kind astSimilarity gives that
 * similarity itself, from the trees.
 */
export const marginStepDpo = defineEstimator({
  id: 'margin-step-dpo',
  version: 1,
  title: 'Margin-aware step DPO (LearNAT)',
  citation: {
    code: 'MrBlankness/LearNAT:trainers.py@80003bd',
    work: 'LearNAT: Learning NL2SQL with AST-guided Task Decomposition, 2025',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: [],
  accepts: [],
  conditional: [
    { when: { kind: 'pairLoss' }, requires: ['turn.astSimilarity'] },
    { when: { kind: 'pairLoss', logprobLevel: 'turn' }, requires: ['turn.logprob', 'turn.refLogprob'] },
    {
      when: { kind: 'pairLoss', logprobLevel: 'token' },
      requires: ['token.logprob', 'token.refLogprob'],
      accepts: ['token.mask'],
    },
    { when: { kind: 'astSimilarity' }, requires: ['turn.syntaxTree', 'turn.fullSyntaxTree'] },
  ],
  kinds: { 'turn.syntaxTree': SyntaxTree, 'turn.fullSyntaxTree': SyntaxTree },
  params: MarginStepDpoParams,
  estimate(trajectories, columns, params) {
    const level = 'turn';
    if (params.kind === 'astSimilarity') {
      const { 'turn.syntaxTree': sub, 'turn.fullSyntaxTree': full } = columns;
      const perTurn = (of: (full: SyntaxTree, sub: SyntaxTree) => number) =>
        Float64Array.from(sub, (each, t) => of(full[t]!, each!));
      const values = perTurn((whole, part) => syntaxTreeSimilarity(whole, part, params));
      return {
        level,
        values,
        explain: {
          astSimilarity: { level, values },
          editDistance: { level, values: perTurn(simpleEditDistance) },
          isSubtree: { level, values: perTurn((whole, part) => Number(isPartialSubtree(whole, part))) },
        },
      };
    }
    const tree = trajectoryTree(trajectories);
    const ratios = logRatios(columns, trajectories.tokenOffsets, params.logprobLevel);
    const ofNode = (perTurn: ArrayLike<number>) => Float64Array.from(tree.turnOf, (row) => (row < 0 ? NaN : perTurn[row])); // prettier-ignore
    const [ratio, similarity] = [ofNode(ratios), ofNode(columns['turn.astSimilarity'])];
    const all = siblingPairs(tree, similarity, 'all', 0);
    const hasMargin = params.variant !== 'ratio' ? () => true : (n: number) => similarity[n] > 0;
    const pairs = all.filter(({ rejected }) => hasMargin(rejected));
    const losses = pairs.map(({ chosen, rejected }) =>
      marginPairLoss(ratio[chosen] - ratio[rejected], similarity[chosen], similarity[rejected], params),
    );
    const nameOf = turnNames(trajectories, tree);
    const weights = losses.map(({ weight }) => weight);
    return {
      level,
      values: onTurns(tree, signedWeights(pairs, weights, tree.nodeCount)),
      explain: {
        chosen: pairColumn(pairs.map(({ chosen }) => nameOf(chosen))),
        rejected: pairColumn(pairs.map(({ rejected }) => nameOf(rejected))),
        pairLoss: pairColumn(losses.map(({ loss }) => loss)),
        chosenReward: pairColumn(pairs.map(({ chosen }) => params.beta * ratio[chosen])),
        rejectedReward: pairColumn(pairs.map(({ rejected }) => params.beta * ratio[rejected])),
      },
      warnings: [
        ...tree.warnings.filter((warning) => !warning.startsWith('no trajectory branches')),
        ...(pairs.length < all.length ? [`pairs left out, their ratio has no logarithm: ${all.length - pairs.length} of ${all.length}`] : []), // prettier-ignore
      ],
    };
  },
});
