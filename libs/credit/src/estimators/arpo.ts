import { clamp } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';

const ArpoParams = z.strictObject({
  entropyTokens: z.int().positive().default(20).describe('how many tokens of a turn are looked at'),
  vocabularySize: z.int().min(2).default(151936).describe("of the policy's tokenizer; the default is Qwen2.5's"),
  baseBranchProbability: z.number().min(0).max(1).default(0.5).describe('chance of a branch where nothing changed'),
  entropyWeight: z.number().default(0.2).describe("how much a rise of entropy adds: the script's; the code says 0.5"),
});

/**
 * Entropy of the first tokens of a turn, from their likeliest continuations only.
 *
 *     H = −Σ e^l · l / ln(vocabulary)      over all entries of the first tokens: a sum, no mean, nothing renormalised
 */
export function topEntropy(tokens: readonly (readonly number[] | null)[], vocabularySize: number): number {
  let sum = 0;
  for (const entries of tokens) for (const l of entries ?? []) sum -= Math.exp(l) * l;
  return sum / Math.log(vocabularySize);
}

/**
 * ARPO's branching rule: the more unsure the agent became since its first turn, the likelier a rollout branches there.
 *
 *     ΔH[t] = H[t] − H[0];  P[t] = clip(p + w · ΔH[t], 0, 1);  branch: clip(u[t] − w · ΔH[t], 0, 1) ≤ p
 */
export const arpo = defineEstimator({
  id: 'arpo',
  version: 1,
  title: 'Chance of branching at a turn (ARPO)',
  citation: {
    paper: 'arXiv:2507.19849',
    code: 'RUC-NLPIR/ARPO:ARPO/verl_arpo_entropy/verl/workers/rollout/vllm_rollout/vllm_rollout_with_tools.py@a95cd08',
  },
  status: 'verified',
  gives: 'score',
  levels: ['turn'],
  groupRelative: false,
  requires: ['token.topLogprobs', 'turn.uniformDraw'],
  accepts: ['token.mask'],
  kinds: { 'token.topLogprobs': z.array(z.number()) },
  params: ArpoParams,
  estimate({ turnOffsets, tokenOffsets }, columns, params) {
    const mask = columns['token.mask'];
    const { 'token.topLogprobs': top, 'turn.uniformDraw': draw } = columns;
    const entropy = Float64Array.from(draw, (_, t) => {
      const tokens: (readonly number[] | null)[] = [];
      for (let k = tokenOffsets[t]; k < tokenOffsets[t + 1] && tokens.length < params.entropyTokens; k++) {
        if (mask?.[k] !== 0) tokens.push(top[k]);
      }
      return topEntropy(tokens, params.vocabularySize);
    });
    const delta = new Float64Array(entropy.length);
    for (let i = 0; i + 1 < turnOffsets.length; i++) {
      for (let t = turnOffsets[i]; t < turnOffsets[i + 1]; t++) delta[t] = entropy[t] - entropy[turnOffsets[i]];
    }

    const { baseBranchProbability: base, entropyWeight } = params;
    const level = 'turn';
    const probability = delta.map((rise) => clamp(base + entropyWeight * rise, 0, 1));
    const branch = delta.map((rise, t) => Number(clamp(draw[t] - entropyWeight * rise, 0, 1) <= base));
    return {
      level,
      values: probability,
      explain: {
        normalizedEntropy: { level, values: entropy },
        entropyDelta: { level, values: delta },
        branchProbability: { level, values: probability },
        branch: { level, values: branch },
      },
    };
  },
});
