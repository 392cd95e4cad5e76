import type { TrajectoryRecord } from '#lib/protocol';
import { SUCCESS_REWARD, type ExactValues } from './exact/values.js';
import { commandLogprob, type Evaluated } from './policy/softmax.js';
import { FORCED, type SpeltCommand } from './policy/word-tree.js';
import type { Step } from './rollout.js';
import type { StateGraph } from './world/state-graph.js';

export interface Recorded {
  readonly id: string;
  readonly trainingStep: number;
  readonly graph: StateGraph;
  readonly policy: Evaluated;
  readonly exact: ExactValues;
  readonly steps: readonly Step[];
  /** by step: what the critic expected before acting */
  readonly valueEstimates: readonly number[];
}

/** A trajectory as it is logged, but for `loggedAdvantage`, which is known when its training step is whole. */
export function recordOf({ id, trainingStep, graph, policy, exact, steps, valueEstimates }: Recorded) {
  const success = steps.at(-1)?.achieved ?? false;
  const { task } = graph.world;
  return {
    id,
    group: graph.world.id,
    trainingStep,
    outcomeReward: success ? SUCCESS_REWARD : 0,
    success,
    signals: { task: task.statement, taskType: task.type },
    turns: steps.map(({ state, command, remaining, achieved }, turn) => {
      const view = graph.viewOf[state];
      const spelt = policy.tree.commands[view][command];
      const reward = achieved ? SUCCESS_REWARD : 0;
      return {
        state: graph.views[view].text,
        action: spelt.text,
        reward,
        signals: {
          exactAdvantage: exact.advantage(state, command, remaining),
          valueEstimate: valueEstimates[turn],
          logprob: commandLogprob(policy, spelt),
          entropy: exact.entropy(state),
        },
        tokens: { ...tokensOf(policy, spelt, reward), value: spelt.choices.map(() => shortened(valueEstimates[turn])) },
      };
    }),
  } satisfies TrajectoryRecord;
}

/**
 * One token per word. A word that had to follow was no choice of the policy, so it is masked out; the reward of the
 * turn lies on the last word that was chosen. The critic sees the scene and not the words so far: it values all
 * tokens of a turn alike.
 */
function tokensOf({ tree, logprob, entropy }: Evaluated, { choices }: SpeltCommand, reward: number) {
  const last = choices.findLastIndex((choice) => choice !== FORCED);
  return {
    logprob: choices.map((choice) => (choice === FORCED ? 0 : shortened(logprob[choice]))),
    entropy: choices.map((choice) => (choice === FORCED ? 0 : shortened(entropy[tree.forkOf[choice]]))),
    mask: choices.map((choice) => Number(choice !== FORCED)),
    reward: choices.map((_, word) => (word === last ? reward : 0)),
  };
}

/** Token columns are kept as float32: more digits would be sent in vain. */
function shortened(value: number): number {
  return Number(value.toPrecision(7));
}
