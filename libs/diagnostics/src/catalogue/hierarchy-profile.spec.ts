import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout, times } from './behaviour.fixture.js';
import { hierarchyProfileDiagnostic } from './hierarchy-profile.js';

/** `aab`: a subgoal per turn; `.`: none is printed, the last one goes on. */
const planned = (id: string, outcome: number, subgoals: string, credits: readonly number[] = []) =>
  rollout(id, 'g', outcome, [...subgoals].map((subgoal, t) => ({ signals: { ...(subgoal !== '.' && { subgoal }), loggedAdvantage: credits[t] ?? 0 } }))); // prettier-ignore

it('measures segments by hand', () => {
  const run = diagnoseRecords(hierarchyProfileDiagnostic, [[planned('a', 1, 'a.b.', [2, 1, -1, 0]), planned('b', 0, 'aaaa')]]); // prettier-ignore
  expect(run.values).toMatchObject({
    // 8 turns in 3 segments; one change among 6 places
    meanSegmentLength: 8 / 3,
    segmentsPerTrajectory: 1.5,
    switchRate: 1 / 6,
    singleShare: 0.5,
    // |2| and |−1| of 4
    openingCreditShare: 0.75,
    'success@1': 0,
    'success@2': 1,
    'success@3': null,
  });
});

it('notes plans of one turn and plans that never change', () => {
  const rules = (subgoals: string) => {
    const step = times(32, [planned('a', 1, subgoals)]);
    return diagnoseRecords(hierarchyProfileDiagnostic, [step, step, step]).alerts.map(({ rule }) => rule);
  };
  expect(rules('abcd')).toEqual(['flat-policy']);
  expect(rules('aaaa')).toEqual(['never-replans']);
  expect(rules('aabb')).toEqual([]);
});
