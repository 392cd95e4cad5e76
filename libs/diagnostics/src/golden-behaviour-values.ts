import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { anchorGroups } from './catalogue/anchor-groups.js';
import { conservativeFloor, returnsByStep } from './catalogue/conservative-floor.js';
import { cumulativeRegret } from './catalogue/cumulative-regret.js';
import { taskTallies } from './task-tallies.js';
import { failureClusters } from './failures-alike.js';
import { failureSimilarity } from './failure-curriculum.js';
import { lengthReward } from './catalogue/length-reward.js';
import { memoryFigures, memoryLift } from './catalogue/memory-lift.js';
import { overthinking } from './catalogue/overthinking.js';
import { prefixSuccess } from './catalogue/prefix-success.js';
import { rewardComponents } from './catalogue/reward-components.js';
import { rolloutBudget, type BudgetAnchor } from './catalogue/rollout-budget.js';
import { taskForgetting } from './catalogue/task-forgetting.js';
import { toolEfficiency } from './catalogue/tool-efficiency.js';
import type { GoldenInput } from './golden-values.js';

type Params = Readonly<Record<string, unknown>>;

/** Of the diagnostics of behaviour, rewards and tasks: what their golden files name. */
export const BEHAVIOUR_VALUES: Readonly<
  Record<string, (input: GoldenInput, params: Params) => Record<string, unknown>>
> = {
  'tool-efficiency': ({ trajectories }, { toolWeight }) => toolEfficiency(trajectories, Number(toolWeight)),
  overthinking: ({ trajectories }) => overthinking(trajectories),
  'length-reward': ({ trajectories }, { maxTokens }) => lengthReward(trajectories, Number(maxTokens)),
  'reward-components': rewardComponentsOfRun,
  'anchor-groups': ({ trajectories }, params) => anchorGroups(trajectories, params as never),
  'failure-similarity': ({ trajectories }, params) => failureSimilarity(trajectories, params as never),
  'failure-clusters': ({ trajectories }, params) => failureClusters(trajectories, params as never),
  'prefix-success': ({ trajectories }, params) => prefixSuccess(trajectories, signal(trajectories, 'successEstimate'), params as never), // prettier-ignore
  'cumulative-regret': ({ trajectories }, { budgets }) => cumulativeRegret(trajectories, budgets as number[]),
  'task-forgetting': ({ trajectories }, params) => taskForgetting(tallied(trajectories), params as never), // prettier-ignore
  'conservative-floor': ({ trajectories }, params) => conservativeFloor(returnsByStep(trajectories), params as never), // prettier-ignore
  'memory-lift': ({ trajectories }) => memoryLift([memoryFigures(trajectories)]),
  'rollout-budget': ({ anchors }, params) => rolloutBudget(anchors as BudgetAnchor[], params as never),
};

function rewardComponentsOfRun({ trajectories }: GoldenInput, { components, weights }: Params) {
  const weightOf = weights as readonly number[];
  return rewardComponents(
    trajectories,
    (components as readonly string[]).map((name, c) => ({ name, weight: weightOf[c] })),
  );
}

function signal({ columns, stateKey }: TrajectoryBatch, name: string): Float64Array {
  const column = columns.get(`turn.${name}`);
  return column?.kind === 'number' ? Float64Array.from(column.values) : new Float64Array(stateKey.length).fill(NaN);
}

/** The tasks of each training step, ascending. */
function tallied(trajectories: TrajectoryBatch) {
  const steps = [...new Set(trajectories.trainingStep)].sort((a, b) => a - b);
  return steps.map((trainingStep) => ({ trainingStep, tallies: taskTallies(only(trajectories, trainingStep)) }));
}

/** The batch in which what lies outside a training step was not judged. */
function only(trajectories: TrajectoryBatch, trainingStep: number): TrajectoryBatch {
  const masked = (['trajectory.success', 'trajectory.outcomeReward'] as const).map((path) => {
    const values = numbers(trajectories, path) ?? new Float64Array(trajectories.ids.length).fill(NaN);
    const kept = Float64Array.from(values, (value, i) => (trajectories.trainingStep[i] === trainingStep ? value : NaN));
    return [path, { kind: 'number' as const, values: kept }] as const;
  });
  return { ...trajectories, columns: new Map([...trajectories.columns, ...masked]) };
}
