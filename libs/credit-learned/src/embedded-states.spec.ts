import {
  estimateLater,
  findEstimator,
  identifyStates,
  runEstimator,
  runLater,
  StateIdentity,
  type TrajectoryRecords,
} from '#lib/credit';
import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { Devices } from '#lib/tensor';
import { describe, expect, it } from 'vitest';
import { Learner } from './learner.js';

const learner = new Learner('wasm');
const identified = (records: TrajectoryRecords, rest: object = {}) =>
  learner.identify(trajectoryBatch(records), StateIdentity.parse({ by: 'embedding', threshold: 0.9, ...rest }));

type Step = readonly [state: string, embedding?: readonly number[]];
const rollout = (id: string, steps: readonly Step[], rest: object = {}) => ({
  id,
  group: 'g',
  trainingStep: 0,
  turns: steps.map(([state, embedding]) => ({
    state,
    action: 'x',
    ...(embedding && { signals: { embedding: [...embedding] } }),
  })),
  ...rest,
});
const keysOf = ({ ids, turnOffsets, stateKey }: TrajectoryBatch) =>
  Array.from(ids, (_, i) => [...stateKey.subarray(turnOffsets[i], turnOffsets[i + 1])]);

describe('states are the same by embedding', () => {
  it('where the logged ones are near the first of their kind, in the order of the batch', async () => {
    // 20 degrees apart each: near its neighbour, far from the one after it
    const at = (degrees: number) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180), 0];
    const { trajectories, device, warnings } = await identified([
      rollout('a', [['p', at(0)], ['q', at(20)], ['r', at(40)]]), // prettier-ignore
      rollout('b', [
        ['s', at(20).map((value) => 0.1 * value)],
        ['t', at(60)],
      ]),
    ]);
    expect(keysOf(trajectories)).toEqual([[0, 0, 1], [0, 1]]); // prettier-ignore
    expect(trajectories.texts!.states.slice(0, 2)).toEqual(['p', 'r']);
    expect(device).toBe('wasm');
    expect(warnings).toEqual([]);
  });

  it('never across groups', async () => {
    for (const one of [['p', [1, 0]], ['p']] satisfies Step[]) {
      const { trajectories } = await identified([rollout('a', [one]), rollout('b', [one], { group: 'h' })]);
      expect(keysOf(trajectories)).toEqual([[0], [1]]);
    }
  });

  it('by their texts where no embedding was logged: words count, and not their order alone', async () => {
    const { trajectories, warnings } = await identified(
      [
        rollout('a', [['You open the red door.'], ['You see twelve apples on the shelf.']]),
        rollout('b', [['you open the RED door'], ['An error occurred.']]),
        rollout('c', [['You see twelve apples on the shelf.'], ['...'], ['???']]),
      ],
      { threshold: 0.8 },
    );
    const [[a0, a1], [b0, b1], [c0, c1, c2]] = keysOf(trajectories);
    expect([b0, c0]).toEqual([a0, a1]);
    expect(new Set([a0, a1, b1, c1, c2]).size, 'texts without a word are alike only where they are equal').toBe(5);
    expect(warnings).toEqual([]);
  });

  it('by their texts, and says so, where embeddings are not on every turn or of several widths', async () => {
    const some = await identified([rollout('a', [['p', [1, 0]], ['p q']])]);
    expect(some.warnings).toEqual(['embeddings are on 1 of 2 turns: states were compared by their texts']);
    const wide = await identified([
      rollout('a', [
        ['p', [1, 0]],
        ['p q', [1, 0, 0]],
      ]),
    ]);
    expect(wide.warnings).toEqual(['embeddings have 2 and 3 numbers: states were compared by their texts']);
    const broken = await identified([
      rollout('a', [
        ['p', ['one'] as never],
        ['p', []],
      ]),
    ]);
    expect([broken.warnings, keysOf(broken.trajectories)]).toEqual([[], [[0, 0]]]);
  });

  it('in the end too: a final state is that of the first turn with an equal text', async () => {
    const ended = (id: string, finalState: string, embedding: number[]) =>
      rollout(id, [['hall', embedding]], { signals: { finalState } });
    const { trajectories } = await identified([
      ended('a', 'hall', [1, 0]),
      ended('b', 'cellar', [0, 1]),
      ended('c', 'cellar', [0, 1]),
    ]);
    const [[a], [b], [c]] = keysOf(trajectories);
    const [endA, endB, endC] = trajectories.finalKey!;
    expect([endA, c]).toEqual([a, b]);
    expect(endB).toBe(endC);
    expect(new Set([a, b, endB]).size).toBe(3);
  });

  it('never where a state was not said, or is generic and these are excluded', async () => {
    const embedded = { action: 'x', signals: { embedding: [1] } };
    const turns = [embedded, { state: 'p', ...embedded }];
    const { trajectories } = await identified([{ id: 'a', group: 'g', trainingStep: 0, turns }]);
    expect(keysOf(trajectories)).toEqual([[-1, 0]]);
    const generic = [rollout('a', [['[]', [1]]]), rollout('b', [['[]', [1]]])];
    const [[a], [b]] = keysOf((await identified(generic, { excludeGeneric: true })).trajectories);
    expect(a).not.toBe(b);
  });

  it('and cannot be found out without a device', () => {
    const identity = StateIdentity.parse({ by: 'embedding' });
    expect(identity).toEqual({ by: 'embedding', threshold: 0.95, excludeGeneric: false });
    expect(() => identifyStates(trajectoryBatch([rollout('a', [['p']])]), identity)).toThrow(/ask for an analysis/);
  });
});

it('any other identity needs no device', async () => {
  const none = () => Promise.reject(new Error('not here'));
  const without = new Learner(new Devices('auto', { cuda: none, webgpu: none, wasm: none }));
  const batch = trajectoryBatch([rollout('a', [['p'], ['p']])]);
  expect(await without.identify(batch, StateIdentity.parse({ by: 'fullHistory' }))).toMatchObject({ warnings: [] });
  await expect(without.identify(batch, StateIdentity.parse({ by: 'embedding' }))).rejects.toMatchObject({
    code: 'device.unavailable',
  });
});

it('a batch without a turn has no state', async () => {
  expect((await identified([rollout('a', [])])).trajectories.stateKey.length).toBe(0);
});

it('an estimate by embedding names what compared the states, and what it warns of', async () => {
  const records = [0, 1].map((reward) => ({
    ...rollout(`${reward}`, [['the hall', [1, 0]], ['the cellar']]), // prettier-ignore
    outcomeReward: reward,
  }));
  const identity = StateIdentity.parse({ by: 'embedding' });
  const estimation = {
    identify: (...of: Parameters<Learner['identify']>) => learner.identify(...of),
    run: runEstimator,
  };
  const rewarded = records.map(({ turns, ...record }, i) => ({ ...record, turns: turns.map((turn) => ({ ...turn, reward: i })) })); // prettier-ignore
  expect(await estimateLater(findEstimator('gigpo'), rewarded, {}, estimation, identity)).toMatchObject({
    kind: 'credit',
    states: identity,
    columns: { stepGroup: [[0, 1], [0, 1]] }, // prettier-ignore
    warnings: ['embeddings are on 2 of 4 turns: states were compared by their texts'],
  });
  const outcome = await runLater(estimation, findEstimator('gigpo'), trajectoryBatch(rewarded), {}, identity);
  expect(outcome).toMatchObject({ device: 'wasm' });
});
