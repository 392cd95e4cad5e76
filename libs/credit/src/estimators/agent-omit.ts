import type { NumericValues } from '#lib/dataset';
import { rowSums } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { grpoAdvantage } from './grpo.js';

const AgentOmitParams = z.strictObject({
  variant: z
    .enum(['paper', 'released'])
    .default('paper')
    .describe("saved share of the whole trajectory, or what the environments' code really adds up ('released')"),
  omissionWeight: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe("share of the reward that savings get (the paper's mu)"),
  epsilon: z.number().nonnegative().default(1e-6).describe("added to the group's spread"),
  singleton: z
    .enum(['raw', 'zero'])
    .default('raw')
    .describe("a group of one keeps its reward ('raw', as verl) or gets 0 ('zero')"),
});

/**
 * The share of a trajectory's tokens that it left out; only a rollout that earned something is paid for it.
 *
 *     Romit[i] = Σ_t (saved thought + saved observation tokens) / total tokens      0 where R = 0
 *
 * @returns [trajectories]
 */
export function omissionReward(
  outcome: NumericValues,
  savedThought: NumericValues,
  savedObservation: NumericValues,
  totalTokens: NumericValues,
  turnOffsets: Int32Array,
): Float64Array {
  const thought = rowSums(savedThought, turnOffsets);
  const observation = rowSums(savedObservation, turnOffsets);
  return thought.map((saved, i) => {
    return outcome[i] === 0 || totalTokens[i] === 0 ? 0 : (saved + observation[i]) / totalTokens[i];
  });
}

/**
 * Agent-Omit: savings are mixed into the outcome, and the group is compared as in GRPO.
 *
 *     paper:     R'[i] = (1 − μ) · R[i] + μ · Romit[i]                                             (omissionReward)
 *     released:  R'[i] = (1 − μ) · last task score + μ · Σ saved / context over turns with reward > 0
 *     A[i] = (R'[i] − mean_g R') / (std_g R' + ε)      ddof = 1; one alone: R' / (1 + ε)
 */
export const agentOmit = defineEstimator({
  id: 'agent-omit',
  version: 1,
  title: 'Adaptive context omission (Agent-Omit)',
  citation: {
    paper: 'arXiv:2602.04284',
    code: 'usail-hkust/Agent-Omit:AgentOmit-RL/verl/workers/rollout/agent_vllm_rollout/vllm_rollout_spmd.py@51fdb90',
  },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['turn.savedThoughtTokens', 'turn.savedObservationTokens'],
  accepts: [],
  conditional: [
    { when: { variant: 'paper' }, requires: ['trajectory.outcomeReward', 'trajectory.totalTokens'] },
    {
      when: { variant: 'released' },
      requires: ['turn.taskScore', 'turn.contextTokens', 'turn.omitsThought', 'turn.omitsObservation', 'turn.reward'],
    },
  ],
  params: AgentOmitParams,
  estimate(trajectories, columns, { variant, omissionWeight, epsilon, singleton }) {
    const { turnOffsets } = trajectories;
    const { 'turn.savedThoughtTokens': thought, 'turn.savedObservationTokens': observation } = columns;
    const isPaper = variant === 'paper';
    const outcome = columns['trajectory.outcomeReward'];
    const omitted = isPaper
      ? omissionReward(outcome, thought, observation, columns['trajectory.totalTokens'], turnOffsets)
      : rowSums(savedShares(columns), turnOffsets);
    const score = isPaper ? outcome : lastOfTrajectories(columns['turn.taskScore'], turnOffsets);
    const reward = omitted.map((saved, i) => (1 - omissionWeight) * score[i] + omissionWeight * saved);

    const ones = new Float64Array(reward.length).fill(1);
    const params = { normalizeByStd: true, epsilon, statsAcross: 'trajectories', singleton } as const;
    const level = 'trajectory';
    return {
      level,
      values: grpoAdvantage(reward, ones, trajectories, params).advantage,
      explain: {
        ...(isPaper && { omissionReward: { level, values: omitted } }),
        trajectoryReward: { level, values: reward },
      },
    };
  },
});

type Released =
  | 'turn.savedThoughtTokens'
  | 'turn.savedObservationTokens'
  | 'turn.omitsThought'
  | 'turn.omitsObservation'
  | 'turn.contextTokens'
  | 'turn.reward';

/** [turns] what a turn saved of its context, where it was rewarded; 0 elsewhere. */
function savedShares(columns: Readonly<Record<Released, NumericValues>>): Float64Array {
  return Float64Array.from(columns['turn.reward'], (reward, t) => {
    const context = columns['turn.contextTokens'][t];
    if (!(reward > 0) || context === 0) return 0;
    const thought = columns['turn.omitsThought'][t] === 1 ? columns['turn.savedThoughtTokens'][t] : 0;
    const observation = columns['turn.omitsObservation'][t] === 1 ? columns['turn.savedObservationTokens'][t] : 0;
    return (thought + observation) / context;
  });
}

/** [trajectories] the last turn's value; 0 without a turn. */
function lastOfTrajectories(values: NumericValues, turnOffsets: Int32Array): Float64Array {
  const last = new Float64Array(turnOffsets.length - 1);
  return last.map((_, i) => (turnOffsets[i] < turnOffsets[i + 1] ? values[turnOffsets[i + 1] - 1] : 0));
}
