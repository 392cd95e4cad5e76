import { numbers, trajectoryBatch } from '#lib/dataset';
import { expect, it, vi } from 'vitest';
import { diagnoseSteps } from './diagnose-steps.fixture.js';
import { DIAGNOSTICS } from './catalogue/index.js';
import { measureStep, readRun } from './run-diagnostic.js';

const members = DIAGNOSTICS.filter(({ requires }) => requires.includes('trajectory.outcomeReward'));

it('looks once for a signal, however many members of the catalogue require it, and in each batch anew', () => {
  const records = [{ id: 't', group: 'g', trainingStep: 0, outcomeReward: 1, turns: [{ state: 's', action: 'a' }] }];
  for (let time = 0; time < 2; time++) {
    const trajectories = trajectoryBatch(records);
    const some = vi.spyOn(numbers(trajectories, 'trajectory.outcomeReward')!, 'some');
    for (const member of members) measureStep(member, { trainingStep: 0, trajectories, metrics: {}, checkpoint: null });
    expect(some).toHaveBeenCalledTimes(1);
  }
});

it('says of a run with nothing but outcomes what each member of the catalogue lacks', () => {
  const records = [{ id: 't', group: 'g', outcomeReward: 1, turns: [{}] }];
  const said = DIAGNOSTICS.map((diagnostic) => [diagnostic.id, diagnoseSteps(diagnostic, [{ records }]).sentence]);
  expect(said.filter(([, sentence]) => sentence === 'nothing to measure yet')).toEqual([]);
});

it('has nothing more to say where no training step was measured, which is how it is without checkpoints', () => {
  const said = DIAGNOSTICS.map((diagnostic) => [
    readRun(diagnostic, []).sentence,
    diagnostic.readsCheckpoints ?? false,
  ]);
  expect(new Set(said.map((one) => one.join('; ')))).toEqual(
    new Set(['nothing to measure yet; false', 'nothing to measure yet: needs checkpoints; true']),
  );
});
