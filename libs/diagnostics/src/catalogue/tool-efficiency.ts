import { jsonValues, numbers, type TrajectoryBatch } from '#lib/dataset';
import { scratchDoubles } from '#lib/numeric';
import { z } from 'zod';
import { bestRows } from '../best-rows.js';
import { covariance, NO_VARIANCE } from '../covariance.js';
import { groupRows, successOf } from '../groups.js';
import { percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/**
 * Tool calls, and those of them that failed.
 *
 * @param calls [trajectories] is written to
 */
function countCalls(trajectories: TrajectoryBatch, calls: Float64Array): { total: number; failed: number } {
  const { turnOffsets } = trajectories;
  const column = trajectories.columns.get('turn.toolName');
  const names = column ? jsonValues(column) : [];
  const error = numbers(trajectories, 'turn.toolError');
  let total = 0;
  let failed = 0;
  for (let i = 0; i < calls.length; i++) {
    const before = total;
    for (let turn = turnOffsets[i]; turn < turnOffsets[i + 1]; turn++) {
      const name = names[turn];
      if (typeof name !== 'string' || name === '') continue;
      total++;
      if (error && error[turn] > 0) failed++;
    }
    calls[i] = total - before;
  }
  return { total, failed };
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
  const n = trajectories.ids.length;
  const [calls, economy, reward] = [callsOf(n), economyOf(n), rewardOf(n)];
  const { total, failed } = countCalls(trajectories, calls);
  const success = successOf(trajectories);
  for (let i = 0; i < n; i++) {
    economy[i] = success[i] === 1 ? toolWeight / (calls[i] + 1) : 0;
    reward[i] = (success[i] === 1 ? 1 : 0) + economy[i];
  }
  const perGroup: GroupUse[] = [];
  let used = 0;
  let blindlyUsed = 0;
  let excess = 0;
  let qualifying = 0;
  let lift = 0;
  let lifted = 0;
  let variance = 0;
  let ofEconomy = 0;
  for (const { name, rows } of groupRows(trajectories)) {
    const group = usesOf(rows, calls, success);
    used += group.used;
    if (group.blind) blindlyUsed += group.used;
    perGroup.push({ group: name, trajectories: rows.length, used: group.used, blind: group.blind });
    if (group.excess !== null) {
      excess += group.excess;
      qualifying++;
    }
    if (group.lift !== null) {
      lift += group.lift;
      lifted++;
    }
    if (rows.length < 2) continue;
    variance += covariance(reward, reward, rows);
    ofEconomy += covariance(economy, reward, rows);
  }
  return {
    callsPerTrajectory: n > 0 ? total / n : null,
    toolFailureRate: total > 0 ? failed / total : null,
    toolUseShare: n > 0 ? used / n : null,
    blindInvocationShare: n > 0 ? blindlyUsed / n : null,
    excessCalls: qualifying > 0 ? excess / qualifying : null,
    toolLift: lifted > 0 ? lift / lifted : null,
    qualifyingGroups: qualifying,
    coupledToolVarianceShare: variance > NO_VARIANCE ? ofEconomy / variance : null,
    perGroup,
  };
}

const callsOf = scratchDoubles();
const economyOf = scratchDoubles();
const rewardOf = scratchDoubles();

interface GroupUse {
  readonly group: string;
  readonly trajectories: number;
  /** those with a call */
  readonly used: number;
  /** a success had none */
  readonly blind: boolean;
}

/** How the trajectories of one group use tools. `excess` needs two successes, `lift` some with a call and some without. */
function usesOf(rows: readonly number[], calls: Float64Array, success: Float64Array) {
  let [used, solved, solvedCalls, fewest] = [0, 0, 0, Infinity];
  let judgedWith = 0;
  let solvedWith = 0;
  let judgedWithout = 0;
  let solvedWithout = 0;
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k];
    const isUse = calls[row] > 0;
    if (isUse) used++;
    if (Number.isNaN(success[row])) continue;
    if (isUse) {
      judgedWith++;
      solvedWith += success[row];
    } else {
      judgedWithout++;
      solvedWithout += success[row];
    }
    if (success[row] !== 1) continue;
    solved++;
    solvedCalls += calls[row];
    if (calls[row] < fewest) fewest = calls[row];
  }
  return {
    used,
    blind: fewest === 0,
    excess: solved >= 2 ? solvedCalls / solved - fewest : null,
    lift: judgedWith > 0 && judgedWithout > 0 ? solvedWith / judgedWith - solvedWithout / judgedWithout : null,
  };
}

/** The few groups with most blind use; of equal ones the earlier. */
function blindest(perGroup: readonly GroupUse[]): GroupUse[] {
  const uses = usesOfGroups(perGroup.length);
  for (let g = 0; g < uses.length; g++) uses[g] = perGroup[g].blind && perGroup[g].used > 0 ? perGroup[g].used : NaN;
  return bestRows(uses, EVIDENCE_PER_STEP).map((g) => perGroup[g]);
}

const usesOfGroups = scratchDoubles();

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
      evidence: blindest(perGroup).map(({ group, used, trajectories: of }) => ({
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
