import { jsonValues, numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { covariance, NO_VARIANCE, pooledCovariance } from '../covariance.js';
import { groupRows, mean, successOf, type GroupRows } from '../groups.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/** Whether a tool was called on a turn. */
const isCall = (name: unknown) => typeof name === 'string' && name !== '';

/** [trajectories] tool calls, and those of them that failed */
export function toolCalls(trajectories: TrajectoryBatch): { calls: Float64Array; failures: Float64Array } {
  const { ids, turnOffsets } = trajectories;
  const column = trajectories.columns.get('turn.toolName');
  const names = column ? jsonValues(column) : [];
  const error = numbers(trajectories, 'turn.toolError');
  const calls = new Float64Array(ids.length);
  const failures = new Float64Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    for (let turn = turnOffsets[i]; turn < turnOffsets[i + 1]; turn++) {
      if (!isCall(names[turn])) continue;
      calls[i]++;
      if (error && error[turn] > 0) failures[i]++;
    }
  }
  return { calls, failures };
}

/**
 * Whether tools are called where they are not needed, and whether calling them pays.
 *
 *     blindInvocationShare      trajectories with a call in groups where a success has none, over all
 *     excessCalls               mean over groups with two successes of mean − min calls among successes
 *     toolLift                  mean over groups with both kinds of success(with a call) − success(without)
 *     coupledToolVarianceShare  Σ_g Cov(w r, R) / Σ_g Var(R) over groups of two, R = success + w r,
 *                               r = 1 / (calls + 1) for a success, else 0
 *
 * Source: r is HDPO's (Accio-Lab/Metis), frequencies TRL's; the rest ours.
 *
 * @param toolWeight w
 */
export function toolEfficiency(trajectories: TrajectoryBatch, toolWeight: number) {
  const { calls, failures } = toolCalls(trajectories);
  const success = successOf(trajectories);
  const groups = groupRows(trajectories);
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  const solved = ({ rows }: GroupRows) => rows.filter((row) => success[row] === 1);
  const isBlind = (group: GroupRows) => solved(group).some((row) => calls[row] === 0);
  const withCalls = ({ rows }: GroupRows) => rows.filter((row) => calls[row] > 0).length;

  const qualifying = groups.map(solved).filter((rows) => rows.length >= 2);
  const excess = qualifying.map((rows) => {
    const counts = rows.map((row) => calls[row]);
    return mean(counts)! - Math.min(...counts);
  });
  const lifts = groups.flatMap(({ rows }) => {
    const judged = rows.filter((row) => !Number.isNaN(success[row]));
    const rate = (some: readonly number[]) => mean(some.map((row) => success[row]));
    const [used, spared] = [
      rate(judged.filter((row) => calls[row] > 0)),
      rate(judged.filter((row) => calls[row] === 0)),
    ];
    return used === null || spared === null ? [] : [used - spared];
  });

  const economy = success.map((one, i) => (one === 1 ? toolWeight / (calls[i] + 1) : 0));
  const reward = economy.map((share, i) => (success[i] === 1 ? 1 : 0) + share);
  const compared = groups.filter(({ rows }) => rows.length >= 2);
  const variance = pooledCovariance(reward, reward, compared);
  const n = trajectories.ids.length;
  const used = groups.reduce((total, group) => total + withCalls(group), 0);
  return {
    callsPerTrajectory: n > 0 ? sum(calls) / n : null,
    toolFailureRate: sum(calls) > 0 ? sum(failures) / sum(calls) : null,
    toolUseShare: n > 0 ? used / n : null,
    blindInvocationShare:
      n > 0 ? groups.filter(isBlind).reduce((total, group) => total + withCalls(group), 0) / n : null,
    excessCalls: mean(excess),
    toolLift: mean(lifts),
    qualifyingGroups: qualifying.length,
    coupledToolVarianceShare:
      variance > NO_VARIANCE ? compared.reduce((total, { rows }) => total + covariance(economy, reward, rows), 0) / variance : null, // prettier-ignore
    perGroup: groups.map((group) => ({
      group: group.name,
      trajectories: group.rows.length,
      used: withCalls(group),
      blind: isBlind(group),
    })),
  };
}

const EVIDENCE_PER_STEP = 3;
/** trajectories below which a training step is too small to alert on */
const MINIMUM = 32;

export const toolEfficiencyDiagnostic = stepwise({
  id: 'tool-efficiency',
  version: 1,
  title: 'Use of tools',
  question: 'Are tools called where they are not needed, do calls fail, and does calling pay?',
  remedy:
    'Reward economy apart from correctness (HDPO) where blind calls are many; fix or describe better the tools that fail.',
  headline: 'blindInvocationShare',
  level: 'group',
  status: 'own',
  source: 'tool reward: Accio-Lab/Metis (HDPO); frequencies: TRL grpo_trainer.py; the rest ours',
  requires: ['turn.toolName'],
  accepts: ['turn.toolError', 'trajectory.outcomeReward', 'trajectory.success'],
  metrics: [],
  params: z.strictObject({
    toolWeight: z.number().positive().default(0.15).describe('of the tool reward in the sum that is looked at'),
  }),
  thresholds: z.strictObject({
    blind: z.number().min(0).max(1).default(0.3).describe('share of blind invocations: a warning'),
    failing: z.number().min(0).max(1).default(0.2).describe('share of failing calls: a warning'),
    always: z.number().min(0).max(1).default(0.9).describe('tool use beyond it that does not pay is worth a note'),
    drowned: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .describe('share of the variance that economy has: less is worth a note'),
  }),

  measure({ trajectories }, { toolWeight }) {
    const { perGroup, ...values } = toolEfficiency(trajectories, toolWeight);
    if (trajectories.ids.length === 0) return null;
    return {
      values,
      reasons: {
        toolFailureRate: 'no tool was called',
        excessCalls: 'needs a group with two successes',
        toolLift: 'needs a group with and without calls',
        coupledToolVarianceShare: 'success and calls do not differ inside any group',
      },
      observations: trajectories.ids.length,
      evidence: perGroup
        .filter(({ blind, used }) => blind && used > 0)
        .sort((a, b) => b.used - a.used)
        .slice(0, EVIDENCE_PER_STEP)
        .map(({ group, used, trajectories: of }) => ({
          group,
          note: `${used} of ${of} called a tool; one solved it without`,
          weight: used,
        })),
    };
  },

  sentence({ toolUseShare, blindInvocationShare, toolFailureRate }) {
    const blind = `${percent(toolUseShare ?? 0)} of the trajectories call a tool, ${percent(blindInvocationShare ?? 0)} where a success did without`;
    return toolFailureRate === null ? blind : `${blind}; ${percent(toolFailureRate)} of the calls fail`;
  },

  rules: ({ blind, failing, always, drowned }) => [
    {
      id: 'blind-invocation',
      level: 'warn',
      all: [{ value: 'blindInvocationShare', op: '>', limit: blind }],
      minimum: MINIMUM,
      says: `more than ${percent(blind)} of the trajectories call a tool where a success did without`,
    },
    {
      id: 'failing-calls',
      level: 'warn',
      all: [{ value: 'toolFailureRate', op: '>', limit: failing }],
      minimum: MINIMUM,
      says: `more than ${percent(failing)} of the tool calls fail`,
    },
    {
      id: 'useless-calls',
      level: 'info',
      all: [
        { value: 'toolLift', op: '<=', limit: 0 },
        { value: 'toolUseShare', op: '>', limit: always },
      ],
      minimum: MINIMUM,
      says: 'nearly every trajectory calls a tool, and those that do succeed no more often',
    },
    {
      id: 'economy-drowned',
      level: 'info',
      all: [{ value: 'coupledToolVarianceShare', op: '<', limit: drowned }],
      minimum: MINIMUM,
      says: `one scalar reward would listen to the number of calls with less than ${percent(drowned)} of its variance`,
    },
  ],
});
