import { seededRandom } from '#lib/numeric';
import { describe, expect, it } from 'vitest';
import { DIFFICULTY, generateTask } from './generate.js';
import { shortestSolution } from './state-graph.js';
import { TASK_TYPES } from './world.js';

const random = seededRandom('generated');
const graphs = TASK_TYPES.flatMap((type) => [0, 1, 2].map((number) => generateTask(random, type, number)));

describe('generated tasks', () => {
  it('can be achieved within the step limit and are small enough for exact values', () => {
    for (const graph of graphs) {
      expect(graph.stateCount).toBeLessThanOrEqual(DIFFICULTY.maxStates);
      expect(shortestSolution(graph)).toBeGreaterThanOrEqual(DIFFICULTY.minTurns);
      expect(shortestSolution(graph)).toBeLessThanOrEqual(DIFFICULTY.stepLimit - DIFFICULTY.slack);
    }
  });

  it('hide something: fewer views than states', () => {
    for (const { views, stateCount } of graphs) expect(views.length).toBeLessThan(stateCount);
  });

  it('admit commands of which none is the beginning of another, and always a choice of the first word', () => {
    for (const { views } of graphs) {
      for (const { commands } of views) {
        const sorted = commands.map(({ text }) => `${text} `).sort();
        for (let i = 1; i < sorted.length; i++) expect(sorted[i].startsWith(sorted[i - 1])).toBe(false);
        expect(new Set(commands.map(({ text }) => text.split(' ')[0])).size).toBeGreaterThan(1);
      }
    }
  });

  it('contain dead ends: states from which no way leads to success', () => {
    const withDeadEnd = graphs.filter(({ isDone, stateCount, commandOffsets, next, depth, world }) => {
      const hopeful = Uint8Array.from(isDone);
      for (let changed = true; changed;) {
        changed = false;
        for (let s = 0; s < stateCount; s++) {
          const leads = next.subarray(commandOffsets[s], commandOffsets[s + 1]).some((after) => hopeful[after] === 1);
          if (!hopeful[s] && leads) changed = Boolean((hopeful[s] = 1));
        }
      }
      return hopeful.some((hope, s) => hope === 0 && depth[s] < world.stepLimit / 2);
    });
    expect(withDeadEnd.length).toBeGreaterThan(graphs.length / 4);
  });

  it('are the same for the same seed', () => {
    const again = generateTask(seededRandom(7), 'heat', 1);
    expect(generateTask(seededRandom(7), 'heat', 1)).toEqual(again);
    expect(generateTask(seededRandom(8), 'heat', 1).views[0].text).not.toBe(again.views[0].text);
  });
});
