import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rollout } from './catalogue/behaviour.fixture.js';
import { placesOf, sharedPlaces, visitorsOf } from './visits.js';

const trajectory = fc.record({
  group: fc.nat(2),
  outcome: fc.constantFrom(0, 1, null),
  states: fc.array(fc.constantFrom('a', 'b', 'c', 'd', null), { maxLength: 6 }),
});

const batchOf = (drawn: readonly { group: number; outcome: number | null; states: readonly (string | null)[] }[]) =>
  trajectoryBatch(
    drawn.map(({ group, outcome, states }, i) => {
      const { outcomeReward, success, ...record } = rollout(`t${i}`, `g${group}`, outcome ?? 0, states.map((state) => (state === null ? {} : { state }))); // prettier-ignore
      return outcome === null ? record : { ...record, outcomeReward, success };
    }),
  );

it('lists the turns of the places that were visited twice, in the order of the places', () => {
  fc.assert(
    fc.property(fc.array(trajectory, { maxLength: 8 }), (drawn) => {
      const batch = batchOf(drawn);
      const { placeOf } = placesOf(batch);
      const turnsOf = Map.groupBy(placeOf.keys(), (turn) => placeOf[turn]);
      turnsOf.delete(-1);
      const expected = [...turnsOf.values()].filter((turns) => turns.length > 1);
      const { offsets, turns, isShared } = sharedPlaces(batch);
      expect(Array.from(offsets.subarray(1), (end, a) => [...turns.subarray(offsets[a], end)])).toEqual(expected);
      expect([...isShared]).toEqual(Array.from(placeOf, (_, turn) => Number(expected.flat().includes(turn))));
    }),
  );
});

it('counts the trajectories that came to a place, and how they ended', () => {
  fc.assert(
    fc.property(fc.array(trajectory, { maxLength: 8 }), (drawn) => {
      const batch = batchOf(drawn);
      const { placeOf, count } = placesOf(batch);
      const { all, judged, solved } = visitorsOf(batch);
      for (let place = 0; place < count; place++) {
        const visitors = drawn.filter((_, row) => placeOf.subarray(batch.turnOffsets[row], batch.turnOffsets[row + 1]).includes(place)); // prettier-ignore
        const outcomes = visitors.flatMap(({ outcome }) => outcome ?? []);
        expect([all[place], judged[place], solved[place]]).toEqual([visitors.length, outcomes.length, outcomes.filter((outcome) => outcome > 0).length]); // prettier-ignore
      }
    }),
  );
});
