import type { Random } from '#lib/numeric';
import { exactValues, type ExactValues } from './exact/values.js';
import type { Learner } from './learner.js';
import { factsOf, valueFeaturesOf } from './policy/features.js';
import type { Evaluated } from './policy/softmax.js';
import { recordOf } from './record.js';
import { rollout, type Step } from './rollout.js';
import type { TrainingTask } from './task.js';

/** One rollout with what the update needs: the policy that acted, and what the critic saw. */
export interface Sampled {
  readonly record: ReturnType<typeof recordOf>;
  readonly task: TrainingTask;
  readonly policy: Evaluated;
  readonly exact: ExactValues;
  readonly steps: readonly Step[];
  readonly valueFeatures: readonly (readonly number[])[];
}

/** The rollouts of one task instance under the current policy: a group. */
export function sampleGroup(
  task: TrainingTask,
  learner: Learner,
  random: Random,
  { trainingStep, groupSize }: { readonly trainingStep: number; readonly groupSize: number },
): Sampled[] {
  const { graph, tree } = task;
  const policy = learner.evaluate(tree);
  const exact = exactValues(graph, policy);
  return Array.from({ length: groupSize }, (_, i) => {
    const steps = rollout(graph, policy, random);
    const valueFeatures = steps.map(({ state, remaining }) => {
      const { scene } = graph.views[graph.viewOf[state]];
      return valueFeaturesOf(scene, factsOf(scene), remaining);
    });
    const valueEstimates = valueFeatures.map((features) => learner.estimate(features));
    const id = `${graph.world.id}.step-${trainingStep}.${i}`;
    const record = recordOf({ id, trainingStep, graph, policy, exact, steps, valueEstimates });
    return { record, task, policy, exact, steps, valueFeatures };
  });
}
