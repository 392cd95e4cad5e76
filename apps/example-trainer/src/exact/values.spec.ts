import { seededRandom, type Random } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { FEATURE_COUNT, factsOf, featuresOf } from '../policy/features.js';
import { commandProbabilities, evaluate } from '../policy/softmax.js';
import { wordTree } from '../policy/word-tree.js';
import { rollout } from '../rollout.js';
import { admissibleCommands } from '../world/commands.js';
import { applyCommand } from '../world/dynamics.js';
import { generateTask } from '../world/generate.js';
import { sceneOf, type Scene } from '../world/scene.js';
import { stateGraph } from '../world/state-graph.js';
import { tinyWorld } from '../world/tiny-world.js';
import type { State, World } from '../world/world.js';
import { exactValues } from './values.js';

function randomWeights(random: Random, spread = 0.4): Float64Array {
  return Float64Array.from({ length: FEATURE_COUNT }, () => random.normal() * spread);
}

/**
 * The policy once more, without trees, tables or states: spells a command word by word, and at each word takes the
 * softmax over all that may follow.
 */
function spell(scene: Scene, weights: Float64Array, wanted: string): number {
  const facts = factsOf(scene);
  const scoreOf = (words: readonly string[]) =>
    Math.exp(featuresOf(scene, facts, words).reduce((sum, feature) => sum + weights[feature], 0));
  const texts = admissibleCommands(scene).map(({ text }) => text.split(' '));
  return wanted.split(' ').reduce((probability, word, i, words) => {
    const alike = texts.filter((text) => text.slice(0, i).join(' ') === words.slice(0, i).join(' '));
    const following = [...new Set(alike.map((text) => text[i]))];
    const scores = following.map((next) => scoreOf([...words.slice(0, i), next]));
    return (probability * scores[following.indexOf(word)]) / scores.reduce((a, b) => a + b, 0);
  }, 1);
}

/** The chance of success by trying everything: no state is ever recognised. */
function bruteForce(world: World, state: State, remaining: number, weights: Float64Array): number {
  if (state.done) return 1;
  if (remaining === 0) return 0;
  const scene = sceneOf(world, state);
  return admissibleCommands(scene).reduce((sum, { command, text }) => {
    const after = applyCommand(world, state, command);
    return sum + spell(scene, weights, text) * bruteForce(world, after, remaining - 1, weights);
  }, 0);
}

describe('exact values', () => {
  it.each([3, 4, 5])('agree with trying everything, %i turns deep', (stepLimit) => {
    const world = tinyWorld({ stepLimit });
    const graph = stateGraph(world)!;
    const weights = randomWeights(seededRandom(stepLimit));
    const exact = exactValues(graph, evaluate(wordTree(graph.views), weights));
    const expected = bruteForce(world, world.start, stepLimit, weights);
    expect(expected).toBeGreaterThan(0);
    expect(exact.value(0, stepLimit)).toBeCloseTo(expected, 12);

    graph.views[graph.viewOf[0]].commands.forEach(({ command }, c) => {
      const after = applyCommand(world, world.start, command);
      const value = bruteForce(world, after, stepLimit - 1, weights);
      expect(exact.commandValue(0, c, stepLimit)).toBeCloseTo(value, 12);
      expect(exact.advantage(0, c, stepLimit)).toBeCloseTo(value - expected, 12);
    });
  });

  it('agree with the share of rollouts that succeed', () => {
    const random = seededRandom('monte carlo');
    const graph = generateTask(random, 'examine', 1);
    const policy = evaluate(wordTree(graph.views), randomWeights(random, 0.05));
    const count = 20_000;
    let successes = 0;
    for (let i = 0; i < count; i++) successes += Number(rollout(graph, policy, random).at(-1)!.achieved);
    const value = exactValues(graph, policy).value(0, graph.world.stepLimit);
    const standardError = Math.sqrt((value * (1 - value)) / count);
    expect(value).toBeGreaterThan(0.01);
    expect(Math.abs(successes / count - value)).toBeLessThan(4 * standardError);
  });

  it('give advantages whose mean under the policy is 0, in every state at every number of turns left', () => {
    const random = seededRandom('zero');
    const graph = generateTask(random, 'heat', 1);
    const policy = evaluate(wordTree(graph.views), randomWeights(random));
    const exact = exactValues(graph, policy);
    let largest = 0;
    let widest = 0;
    for (let s = 0; s < graph.stateCount; s++) {
      if (graph.isDone[s]) continue;
      const probabilities = commandProbabilities(policy, graph.viewOf[s]);
      for (let h = 1; h <= graph.world.stepLimit - graph.depth[s]; h++) {
        const advantages = probabilities.map((_, c) => exact.advantage(s, c, h));
        const mean = advantages.reduce((sum, advantage, c) => sum + probabilities[c] * advantage, 0);
        largest = Math.max(largest, Math.abs(mean));
        widest = Math.max(widest, ...advantages);
      }
    }
    expect(largest).toBeLessThan(1e-12);
    expect(widest).toBeGreaterThan(0.1);
  });

  it('give the entropy over whole commands', () => {
    const graph = stateGraph(tinyWorld())!;
    const policy = evaluate(wordTree(graph.views), new Float64Array(FEATURE_COUNT));
    expect(exactValues(graph, policy).entropy(0)).toBeCloseTo(Math.log(3), 12);
  });
});
