import { trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimate, type TrajectoryRecords } from './estimate.js';
import { findEstimator } from './find-estimator.js';
import { isGenericState } from './generic-states.js';
import { AS_RECORDED, identifyStates, readsStates, StateIdentity, statesOf } from './state-identity.js';
import { trajectoryGraph } from './trajectory-graph.js';

const turnsOf = (...steps: readonly (readonly [string, string])[]) =>
  steps.map(([state, action]) => ({ state, action }));
const rollout = (id: string, ...steps: readonly (readonly [string, string])[]) => ({
  id,
  group: 'g',
  trainingStep: 0,
  turns: turnsOf(...steps),
});
const keysOf = (trajectories: TrajectoryBatch) => {
  const { turnOffsets, stateKey } = trajectories;
  return Array.from(trajectories.ids, (_, i) => [...stateKey.subarray(turnOffsets[i], turnOffsets[i + 1])]);
};
const identified = (records: TrajectoryRecords, identity: object) =>
  identifyStates(trajectoryBatch(records), StateIdentity.parse(identity));

// both reach "hall"; a by "go", b by "run", c by "go" from elsewhere
const three = [
  rollout('a', ['start', 'go'], ['hall', 'x']),
  rollout('b', ['start', 'run'], ['hall', 'x']),
  rollout('c', ['cellar', 'go'], ['hall', 'x']),
];

describe('states are the same', () => {
  it('as they were recorded, where nothing is chosen', () => {
    const trajectories = trajectoryBatch(three);
    expect(identifyStates(trajectories, AS_RECORDED)).toBe(trajectories);
    expect(keysOf(trajectories)).toEqual([
      [0, 1],
      [0, 1],
      [2, 1],
    ]);
  });

  it('by the action that led there and what was seen', () => {
    const [[a0, a1], [b0, b1], [c0, c1]] = keysOf(identified(three, { by: 'actionObservation' }));
    expect([b0 === a0, c0 === a0]).toEqual([true, false]);
    expect([b1 === a1, c1 === a1]).toEqual([false, true]);
  });

  it('by all that came before', () => {
    const again = [...three, rollout('d', ['start', 'go'], ['hall', 'y'])];
    const [[a0, a1], [b0, b1], [c0, c1], [d0, d1]] = keysOf(identified(again, { by: 'fullHistory' }));
    expect([b0, d0]).toEqual([a0, a0]);
    expect(d1).toBe(a1);
    expect(new Set([a0, a1, b1, c0, c1]).size).toBe(5);
  });

  it('by their texts resembling each other, inside a group', () => {
    const records = [
      rollout('a', ['You are in the hall. A door leads north.', 'x']),
      rollout('b', ['You are in the hall. A door leads south.', 'x']),
      rollout('c', ['A cellar', 'x']),
      { ...rollout('d', ['You are in the hall. A door leads north.', 'x']), group: 'other' },
    ];
    const [[a], [b], [c], [d]] = keysOf(identified(records, { by: 'similarity', threshold: 0.8 }));
    expect(b).toBe(a);
    expect(new Set([a, c, d]).size).toBe(3);
    const strict = keysOf(identified(records, { by: 'similarity', threshold: 0.99 }));
    expect(strict[1]).not.toEqual(strict[0]);
  });

  it('never, where they are generic and these are excluded', () => {
    const records = [
      rollout('a', ['[]', 'x'], ['room', 'x'], ['Error: no', 'x']),
      rollout('b', ['[]', 'x'], ['room', 'x'], ['Error: no', 'x']),
    ];
    const [a, b] = keysOf(identified(records, { by: 'lastObservation', excludeGeneric: true }));
    expect(b[1]).toBe(a[1]);
    expect(new Set([a[0], a[1], a[2], b[0], b[2]]).size).toBe(5);
  });

  it('in the end too: a final state is one that was visited where it is the same', () => {
    const ended = (id: string, finalState: string | null, ...steps: [string, string][]) => ({
      ...rollout(id, ...steps),
      signals: { finalState },
    });
    const records = [ended('a', 'hall', ['start', 'go']), ended('b', null, ['start', 'go'], ['hall', 'x'])];
    for (const by of ['lastObservation', 'actionObservation', 'fullHistory', 'similarity']) {
      const trajectories = identified(records, { by, excludeGeneric: true });
      const { endNode, nodeOf } = trajectoryGraph(trajectories, undefined);
      expect([by, endNode[0] === nodeOf[2]]).toEqual([by, true]);
      expect(endNode[1]).not.toBe(endNode[0]);
      expect(trajectories.texts!.states[trajectories.finalKey![0]]).toBe('hall');
    }
  });

  it('and one that was not said stays unsaid', () => {
    const records = [{ id: 'a', group: 'g', trainingStep: 0, turns: [{ action: 'x' }, { state: 's', action: 'x' }] }];
    for (const by of ['actionObservation', 'fullHistory', 'similarity']) {
      expect(keysOf(identified(records, { by }))[0][0]).toBe(-1);
    }
  });

  const text = fc.constantFrom('a', 'b', '', '[]', 'Error', 'a long room with a door', 'a long room with a dog');
  const turn = fc.record({ state: text, action: fc.constantFrom('x', 'y') });
  const batch = fc
    .array(fc.record({ group: fc.constantFrom('g', 'h'), turns: fc.array(turn, { maxLength: 4 }) }), { maxLength: 6 })
    .map((records) => records.map((record, i) => ({ ...record, id: `${i}`, trainingStep: 0 })));

  it('by a longer history only where they are by a shorter one', () => {
    const finer = (a: TrajectoryBatch, b: TrajectoryBatch) => {
      const of = new Map<number, number>();
      a.stateKey.forEach((key, t) => {
        expect(of.get(key) ?? b.stateKey[t]).toBe(b.stateKey[t]);
        of.set(key, b.stateKey[t]);
      });
    };
    fc.assert(
      fc.property(batch, (records) => {
        const as = (by: string) => identified(records, { by });
        finer(as('fullHistory'), as('actionObservation'));
        finer(as('actionObservation'), as('lastObservation'));
      }),
    );
  });

  it('with keys that have a text each, whatever is chosen', () => {
    fc.assert(
      fc.property(
        batch,
        fc.boolean(),
        fc.constantFrom('actionObservation', 'fullHistory', 'similarity'),
        (records, excludeGeneric, by) => {
          const { stateKey, texts } = identified(records, { by, excludeGeneric });
          for (const key of stateKey) expect(typeof texts!.states[key]).toBe('string');
        },
      ),
    );
  });
});

describe('a generic state', () => {
  it.each([
    '',
    '  ',
    '[]',
    '{}',
    'null',
    'None',
    'N/A',
    'Error: no such file',
    '[ERROR] timeout',
    'Traceback (most recent call last)',
    'Invalid action',
    '[{"content":"[]","role":"tool"}]',
    '[{"content":null,"role":"tool"}]',
  ])('is %j', (state) => {
    expect(isGenericState(state)).toBe(true);
  });
  it.each([
    'a room',
    'no error here',
    'Errors were found and fixed',
    '[1]',
    '[{"content":"a room","role":"tool"}]',
    '[{"broken',
  ])('is not %j', (state) => {
    expect(isGenericState(state)).toBe(false);
  });
});

describe('an estimator', () => {
  it('that reads no states gives the same whatever is chosen, and does not name it', () => {
    const records = three.map((record, i) => ({ ...record, outcomeReward: i }));
    const grpo = findEstimator('grpo');
    expect(estimate(grpo, records, {}, StateIdentity.parse({ by: 'fullHistory' }))).toEqual(estimate(grpo, records));
    expect(readsStates(grpo)).toBe(false);
  });

  it('that reads states gives what they make of it, and names the choice', () => {
    const records = three.map((record, i) => ({
      ...record,
      outcomeReward: i,
      turns: record.turns.map((turn, t) => ({ ...turn, reward: t === 1 ? i : 0 })),
    }));
    const gigpo = findEstimator('gigpo');
    const identity = StateIdentity.parse({ by: 'fullHistory' });
    const chosen = estimate(gigpo, records, {}, identity);
    expect(chosen).toMatchObject({ kind: 'credit', states: identity });
    expect(chosen).not.toMatchObject({
      turnAdvantage: (estimate(gigpo, records) as { turnAdvantage: unknown }).turnAdvantage,
    });
    expect(statesOf(gigpo, AS_RECORDED)).toEqual({});
  });

  it.each(['gigpo', 'hgpo', 'salt', 'graft', 'rtmc', 'step-grpo'])('%s reads states', (id) => {
    expect(readsStates(findEstimator(id))).toBe(true);
  });
});
