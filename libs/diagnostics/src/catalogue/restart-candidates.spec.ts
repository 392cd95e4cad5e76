import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { measureStep, readRun } from '../run-diagnostic.js';
import { rollout } from './behaviour.fixture.js';
import { restartCandidates, restartCandidatesDiagnostic } from './restart-candidates.js';

const OPTIONS = { lost: 0.1, won: 0.9, perTask: 3 };
/** Rollouts whose state is what was done so far. */
const path = (id: string, outcome: number, actions: string) =>
  rollout(id, 'g', outcome, [...actions].map((action, t) => ({ state: actions.slice(0, t), action }))); // prettier-ignore

const GROUP = [path('a', 1, 'xy1'), path('b', 0, 'xy2'), path('c', 0, 'xz'), path('d', 0, 'w')];

it('ranks what is neither lost nor won, and says what to replay', () => {
  const found = restartCandidates(trajectoryBatch(GROUP), OPTIONS);
  expect(found[0]).toMatchObject({ task: 'g', trajectory: 'a', prefixTurns: 2, success: 0.5, continuations: 2, reason: '1 of 2 succeeded from here' }); // prettier-ignore
  expect(found[0].score).toBeCloseTo((1 - 2 * 0.5 ** 4) / Math.sqrt(3), 12);
  // the same where a trainer says who branched off whom
  const parents = [null, { trajectory: 'a', turn: 1 }, { trajectory: 'a', turn: 0 }, null];
  const tree = GROUP.map((record, i) => ({ ...record, ...(parents[i] && { parent: parents[i] }) }));
  expect(restartCandidates(trajectoryBatch(tree), OPTIONS)[0]).toMatchObject(found[0]);
  expect(restartCandidates(trajectoryBatch(GROUP), { ...OPTIONS, lost: 0.5 })).toEqual([]);
});

it('keeps at most so many of a task', () => {
  expect(restartCandidates(trajectoryBatch(GROUP), { ...OPTIONS, perTask: 1 })).toHaveLength(1);
  expect(restartCandidates(trajectoryBatch(GROUP), OPTIONS).map(({ prefixTurns }) => prefixTurns)).toEqual([2, 1]);
});

it('lists them for the plan', () => {
  const run = diagnoseRecords(restartCandidatesDiagnostic, [GROUP]);
  expect(run.sentence).toMatch(
    /^\d states of 1 task are worth returning to; the best lies 2 turns in and succeeds in 50 %$/,
  );
  expect(run.evidence[0]).toEqual({ trainingStep: 0, group: 'g', trajectory: 'a', turn: 1, note: '1 of 2 succeeded from here' }); // prettier-ignore
  expect(diagnoseRecords(restartCandidatesDiagnostic, [[path('a', 1, 'x')]]).sentence).toBe('no state that two rollouts of a task saw is neither lost nor won'); // prettier-ignore
});

it('keeps of a state what the rest follows from, and lists it whole', () => {
  const step = { trainingStep: 0, trajectories: trajectoryBatch(GROUP), metrics: {}, checkpoint: null };
  const outcome = measureStep(restartCandidatesDiagnostic, step);
  expect(outcome).toMatchObject({ figures: { size: 4, best: [['g', 'a', 2, 2, 1], ['g', 'a', 1, 3, 1]] } }); // prettier-ignore
  const { detail } = readRun(restartCandidatesDiagnostic, [{ trainingStep: 0, outcome: JSON.parse(JSON.stringify(outcome)) }]); // prettier-ignore
  const listed = restartCandidates(trajectoryBatch(GROUP), OPTIONS).map((each) => ({ trainingStep: 0, ...each }));
  expect(detail).toEqual({ candidates: listed });
});
