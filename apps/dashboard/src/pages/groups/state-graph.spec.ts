import { expect, it } from 'vitest';
import { commonStart } from './common-start.js';
import { stateGraph, type GraphRollout } from './state-graph.js';

/** `a:go:0.5` is a turn in state a with the action go and that credit. */
const rollout = (id: string, success: boolean | null, ...turns: string[]): GraphRollout => ({
  id,
  success,
  turns: turns.map((text, index) => {
    const [stateKey, action, credit] = text.split(':');
    return { index, stateKey, state: stateKey, action, credit: credit === undefined ? null : Number(credit) };
  }),
});

const graph = stateGraph([
  rollout('one', true, 'a:go:1', 'b:take:2'),
  rollout('two', false, 'a:go:0', 'b:look', 'c:wait:-1'),
  rollout('three', null, 'a:stay:-3', 'a:go:2'),
]);
const edge = (from: string, action: string) => graph.edges.filter((one) => one.from === from && one.action === action);

it('merges equal states of all rollouts, and ends by what came of them', () => {
  expect(graph.nodes.map(({ key, visits, rollouts, layer }) => [key, visits, [...rollouts], layer])).toEqual([
    ['a', 4, ['one', 'two', 'three'], 0],
    ['b', 2, ['one', 'two'], 1],
    ['success', 1, ['one'], 3],
    ['c', 1, ['two'], 2],
    ['failure', 1, ['two'], 3],
    ['end', 1, ['three'], 3],
  ]);
  expect([graph.layers, graph.rows]).toEqual([4, 3]);
});

it('joins turns of the same action between the same states, with their mean credit', () => {
  expect(edge('a', 'go').map(({ to, credit, turns }) => [to, credit, turns.length])).toEqual([
    ['b', 0.5, 2],
    ['end', 2, 1],
  ]);
  expect(edge('a', 'stay')[0]).toMatchObject({ to: 'a', credit: -3, turns: [{ rollout: 'three', turn: 0 }] });
  expect(edge('b', 'look')[0].credit).toBe(null);
});

it('gives every node of a layer a row of its own', () => {
  const places = graph.nodes.map(({ layer, row }) => `${layer} ${row}`);
  expect(new Set(places).size).toBe(places.length);
  expect(stateGraph([])).toEqual({ nodes: [], edges: [], layers: 0, rows: 0 });
});

it('knows how many characters texts begin with in common, in whole words', () => {
  expect(commonStart(['you are in the kitchen', 'you are in the cellar', 'you are in the keep'])).toBe(15);
  expect(commonStart(['kitchen', 'kit'])).toBe(0);
  expect([commonStart(['alone in the dark']), commonStart([])]).toEqual([0, 0]);
});
