import type { NumericValues, TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineEstimator } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { processSupervision } from '../process-supervision.js';
import type { TextValues } from '../signal-kinds.js';

const ProveProgramParams = z.strictObject({
  granularity: z
    .enum(['trajectory', 'turn'])
    .default('trajectory')
    .describe('credit per trajectory, or per turn by the turn that earned it'),
  validityWeight: z.number().default(0.3).describe('weight of how valid the calls are'),
  coverageWeight: z.number().default(0.4).describe('weight of the required calls that were made'),
  budgetWeight: z.number().default(0.15).describe('what going over the budget costs'),
  nameWeight: z.number().default(0.1).describe("weight of the tools' names"),
  argumentWeight: z.number().default(0.05).describe('weight of matching arguments'),
  budgetFactor: z
    .number()
    .positive()
    .default(4 / 3)
    .describe('calls allowed per required call, where no budget is given'),
  ...GROUP_PARAMS,
});
type Params = z.infer<typeof ProveProgramParams>;

const RequiredCall = z.object({ id: z.string(), name: z.string(), weight: z.number().nonnegative().default(1) });
type RequiredCall = z.infer<typeof RequiredCall>;

/** One call: its turn, and what is said of it. */
interface Call {
  readonly turn: number;
  readonly validity: number;
  readonly name: string | null;
  readonly argMatch: number;
  readonly covers: string | null;
}

/** What a trajectory earned, and in which turn: adds up to its reward. */
interface Earned {
  readonly turn: number;
  readonly value: number;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Twice the names that match, each as often as both have it, over all names of both; 1 where there are none. */
export function nameF1(called: readonly string[], required: readonly string[]): number {
  const left = [...required];
  let hits = 0;
  for (const name of called) {
    const at = left.indexOf(name);
    if (at < 0) continue;
    left.splice(at, 1);
    hits++;
  }
  const both = called.length + required.length;
  return both === 0 ? 1 : (2 * hits) / both;
}

/**
 * The parts of a trajectory's reward, each at the turn that earned it; names and arguments, which no turn earns alone, at
 * the last one.
 *
 *     R = 0.3 v + 0.4 c − 0.15 p + 0.1 F1 + 0.05 args
 *     v: mean validity of the calls      c: share of required calls made after what they need (by weight)
 *     p = clip((calls − B) / B, 0, 1)    B: the budget, or ⌈budgetFactor · required calls⌉
 *
 * @param last the trajectory's last turn
 */
export function earnings(
  calls: readonly Call[],
  required: readonly RequiredCall[],
  covered: readonly string[],
  callBudget: number,
  last: number,
  params: Params,
): Earned[] {
  const valid = calls.map(({ turn, validity }) => ({ turn, value: (params.validityWeight * validity) / calls.length }));
  const allWeight = sum(required.map(({ weight }) => weight));
  const met = required
    .filter(({ id }) => covered.includes(id))
    .map(({ id, weight }) => {
      const turn = calls.find(({ covers }) => covers === id)?.turn ?? last;
      return { turn, value: (params.coverageWeight * weight) / allWeight };
    });
  const nothingRequired = { turn: last, value: params.coverageWeight };
  const budget = Number.isNaN(callBudget) ? Math.ceil(params.budgetFactor * required.length) : Math.max(0, callBudget);
  const over = calls.slice(Math.floor(budget));
  const penalty = over.length === 0 ? 0 : budget === 0 ? 1 : Math.min(1, (calls.length - budget) / budget);
  const cost = over.map(({ turn }) => ({ turn, value: (-params.budgetWeight * penalty) / over.length }));
  const names = nameF1(calls.flatMap(({ name }) => name ?? []), required.map(({ name }) => name)); // prettier-ignore
  const matches = calls.flatMap(({ argMatch }) => (Number.isNaN(argMatch) ? [] : [argMatch]));
  const args = matches.length === 0 ? 0 : sum(matches) / matches.length;
  const whole = { turn: last, value: params.nameWeight * names + params.argumentWeight * args };
  return [...valid, ...(allWeight > 0 ? met : [nothingRequired]), ...cost, whole];
}

/** The calls of each trajectory: the turns that name a tool, or of whose call anything is said. */
function callsOf(
  { turnOffsets, ids }: TrajectoryBatch,
  validity: NumericValues,
  argMatch: NumericValues,
  toolName: TextValues,
  covers: TextValues,
): Call[][] {
  return ids.map((_, i) => {
    const calls: Call[] = [];
    for (let turn = turnOffsets[i]; turn < turnOffsets[i + 1]; turn++) {
      if (toolName[turn] === null && Number.isNaN(validity[turn])) continue;
      const said = { name: toolName[turn], argMatch: argMatch[turn], covers: covers[turn] };
      calls.push({ turn, validity: validity[turn] || 0, ...said });
    }
    return calls;
  });
}

/**
 * PROVE: a reward for using tools that is computed, not judged.
 *
 *     R by earnings;   trajectory: A = (R − mean_g R) / (std_g R + ε), ddof = 1
 *     turn: r[t] = what turn t earned of R,  A[t] = Σ_{u ≥ t} normalised r[u]      (processSupervision)
 */
export const proveProgram = defineEstimator({
  id: 'prove-program',
  version: 1,
  title: 'Programmatic tool-use reward (PROVE)',
  citation: { paper: 'arXiv:2606.03892' },
  status: 'reconstructed',
  gives: 'advantage',
  levels: ['trajectory', 'turn'],
  groupRelative: true,
  requires: [
    'turn.validity',
    'turn.toolName',
    'turn.argMatch',
    'turn.coversRequired',
    'trajectory.covered',
    'trajectory.requiredCalls',
  ],
  accepts: ['trajectory.callBudget'],
  sparse: ['turn.validity', 'turn.toolName', 'turn.argMatch', 'turn.coversRequired'],
  kinds: {
    'turn.toolName': 'text',
    'turn.coversRequired': 'text',
    'trajectory.covered': z.array(z.string()),
    'trajectory.requiredCalls': z.array(RequiredCall),
  },
  params: ProveProgramParams,
  estimate(trajectories, columns, params) {
    const { 'turn.validity': validity, 'turn.argMatch': argMatch } = columns;
    const { 'turn.toolName': toolName, 'turn.coversRequired': covers } = columns;
    const { 'trajectory.requiredCalls': required, 'trajectory.covered': covered } = columns;
    const budgets = columns['trajectory.callBudget'];
    const turnReward = new Float64Array(trajectories.stateKey.length);
    const reward = Float64Array.from(callsOf(trajectories, validity, argMatch, toolName, covers), (calls, i) => {
      const last = trajectories.turnOffsets[i + 1] - 1;
      const earned = earnings(calls, required[i]!, covered[i]!, budgets?.[i] ?? NaN, last, params);
      const hasTurns = last >= trajectories.turnOffsets[i];
      if (hasTurns) for (const { turn, value } of earned) turnReward[turn] += value;
      return sum(earned.map(({ value }) => value));
    });
    const explain = {
      turnReward: { level: 'turn', values: turnReward },
      trajectoryReward: { level: 'trajectory', values: reward },
    } as const;
    if (params.granularity === 'trajectory') {
      return { level: 'trajectory', values: groupAdvantage(reward, trajectories, params), explain };
    }
    return { level: 'turn', values: processSupervision(turnReward, trajectories, params).advantage, explain };
  },
});
