import { seededRandom } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { stateGraph } from '../world/state-graph.js';
import { tinyWorld } from '../world/tiny-world.js';
import { adam } from './adam.js';
import { logisticCritic } from './critic.js';
import { FEATURE_COUNT } from './features.js';
import { addChoiceGradient } from './gradient.js';
import { commandLogprob, commandProbabilities, evaluate } from './softmax.js';
import { FORCED, wordTree } from './word-tree.js';

const { views } = stateGraph(tinyWorld())!;
const tree = wordTree(views);
const random = seededRandom('weights');
const weights = Float64Array.from({ length: FEATURE_COUNT }, () => random.normal() * 0.3);
const policy = evaluate(tree, weights);

describe('the policy', () => {
  it('chooses only where more than one word may follow', () => {
    // look | go to bedroom | take mug 1 from countertop: the first word decides
    expect(tree.commands[0].map(({ choices }) => choices.map((choice) => choice !== FORCED))).toEqual([
      [true],
      [true, false, false],
      [true, false, false, false, false],
    ]);
    const bedroom = views.findIndex(({ text }) => text.includes('in the bedroom') && text.includes('drawer (closed)'));
    const opening = tree.commands[bedroom].filter(({ text }) => text.startsWith('open'));
    expect(opening.map(({ text }) => text)).toEqual(['open drawer', 'open safe']);
    expect(opening.map(({ choices }) => choices.includes(FORCED))).toEqual([false, false]);
    expect(opening[0].choices[0]).toBe(opening[1].choices[0]);
  });

  it('is uniform at every fork without weights', () => {
    const untrained = evaluate(tree, new Float64Array(FEATURE_COUNT));
    expect(commandProbabilities(untrained, 0)).toEqual([1 / 3, 1 / 3, 1 / 3].map((p) => expect.closeTo(p, 12)));
    expect(untrained.entropy[0]).toBeCloseTo(Math.log(3), 12);
  });

  it('shares 1 among the commands of every view', () => {
    for (let view = 0; view < views.length; view++) {
      expect(commandProbabilities(policy, view).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
    }
  });

  it('sums the log-probabilities of the words', () => {
    const busiest = views.reduce(
      (best, { commands }, view) => (commands.length > views[best].commands.length ? view : best),
      0,
    );
    const command = tree.commands[busiest].at(-1)!;
    const words = command.choices.filter((choice) => choice !== FORCED).map((choice) => policy.logprob[choice]);
    expect(commandLogprob(policy, command)).toBe(words.reduce((a, b) => a + b, 0));
  });
});

describe('the policy gradient', () => {
  it('agrees with finite differences of advantage × log-probability + weight × entropy', () => {
    const choice = tree.commands[0][1].choices[0];
    const objective = (at: Float64Array) => {
      const { logprob, entropy } = evaluate(tree, at);
      return 0.5 * (-1.7 * logprob[choice] + 0.2 * entropy[tree.forkOf[choice]]);
    };
    const gradient = new Float64Array(FEATURE_COUNT);
    addChoiceGradient(gradient, policy, choice, { advantage: -1.7, entropyWeight: 0.2, scale: 0.5 });
    const used = new Set(tree.features.subarray(0, tree.featureOffsets[3]));
    for (const feature of used) {
      const step = 1e-6;
      const up = weights.with(feature, weights[feature] + step);
      const down = weights.with(feature, weights[feature] - step);
      expect(gradient[feature]).toBeCloseTo((objective(up) - objective(down)) / (2 * step), 7);
    }
    expect(gradient.filter((g, feature) => g !== 0 && !used.has(feature))).toHaveLength(0);
  });
});

describe('adam', () => {
  it('takes a first step of the learning rate, whatever the gradient, and answers its length', () => {
    const climber = adam(3, 0.1);
    expect(climber.climb(Float64Array.of(3, -4, 0))).toBe(5);
    expect([...climber.weights]).toEqual([expect.closeTo(0.1, 8), expect.closeTo(-0.1, 8), 0]);
  });
});

describe('the critic', () => {
  it('learns how often a state was followed by success', () => {
    const critic = logisticCritic(0.05);
    expect(critic.estimate([1])).toBe(0.5);
    const seen = (features: number[], returns: number[]) =>
      returns.map((observedReturn) => ({ features, observedReturn }));
    for (let i = 0; i < 400; i++) critic.fit([...seen([1], [1, 0, 0, 0]), ...seen([2], [1, 1, 1, 0])]);
    expect(critic.estimate([1])).toBeCloseTo(0.25, 1);
    expect(critic.estimate([2])).toBeCloseTo(0.75, 1);
  });
});
