import { pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { standardScores } from '../standard-scores.js';
import { equalStates } from '../state-groups.js';
import { textKeys } from '../text-keys.js';

const HiAgentParams = z.strictObject({
  part: z
    .enum(['high', 'low'])
    .default('high')
    .describe("whose advantage the credit is: of the choice of the subgoal ('high') or of its execution ('low')"),
  formatWeight: z.number().default(0.1).describe('weight of formatOk (assumed)'),
  executionWeight: z.number().default(0.9).describe('weight of executionReward (assumed)'),
  judged: z.boolean().default(false).describe('adds judgeScore, which every turn must then have'),
  judgeWeight: z.number().default(0.1).describe('its weight (assumed)'),
  epsilon: z.number().nonnegative().default(1e-6).describe('added to the spreads (assumed)'),
  singleton: z
    .enum(['raw', 'zero'])
    .default('zero')
    .describe("a turn without a turn beside it keeps its reward ('raw') or gets 0 ('zero')"),
});

/**
 * Hi-Agent: a subgoal is judged by whether it could be carried out at once, against the other subgoals that were chosen in
 * the same state.
 *
 *     q[t]    = wF · formatOk + wE · executionReward (+ wJ · judgeScore)
 *     high[t] = (q[t] − mean q) / (std q + ε)          over the turns of the group in the same state, ddof = 1
 *     low[t]  = (e[t] − mean e) / (std e + ε)          e = executionReward, the same state and subgoal
 *
 * No subgoal counts as one of its own.
 */
export const hiAgent = defineEstimator({
  id: 'hi-agent',
  version: 1,
  title: 'Foresight advantages of subgoals (Hi-Agent)',
  citation: { paper: 'arXiv:2510.14388' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['turn'],
  groupRelative: true,
  requires: ['turn.state', 'turn.formatOk', 'turn.executionReward'],
  accepts: ['turn.subgoal'],
  conditional: [{ when: { judged: true }, requires: ['turn.judgeScore'] }],
  kinds: { 'turn.subgoal': 'text' },
  params: HiAgentParams,
  estimate(trajectories, columns, params) {
    const { formatWeight, executionWeight, judgeWeight, judged, part } = params;
    const execution = columns['turn.executionReward'];
    const format = columns['turn.formatOk'];
    const judge = columns['turn.judgeScore'];
    const quality = Float64Array.from(execution, (reward, t) => {
      return formatWeight * format[t] + executionWeight * reward + (judged ? judgeWeight * judge[t] : 0);
    });
    const states = equalStates(trajectories);
    const subgoal = textKeys(columns['turn.subgoal'] ?? Array.from(execution, () => null)).keys.map((key) => key + 1);
    const chosen = pairLabels(states.labels, subgoal);
    const high = standardScores(quality, states.labels, states.count, params);
    const low = standardScores(execution, chosen.labels, chosen.count, params);
    const level = 'turn';
    return {
      level,
      values: part === 'high' ? high : low,
      explain: {
        turnReward: { level, values: quality },
        highAdvantage: { level, values: high },
        lowAdvantage: { level, values: low },
      },
    };
  },
});
