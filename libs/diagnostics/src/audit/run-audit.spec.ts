import { findEstimator, runEstimator } from '#lib/credit';
import { numbers, trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { auditStep } from './audit-step.js';
import { claimOf } from './claim-of.js';
import { otherEstimators } from './other-estimators.js';
import { runAudit } from './run-audit.js';

type Trainer = (rewards: readonly number[]) => readonly number[];

const mean = (x: readonly number[]) => x.reduce((sum, value) => sum + value, 0) / x.length;
const std = (x: readonly number[]) =>
  Math.sqrt(x.reduce((sum, value) => sum + (value - mean(x)) ** 2, 0) / (x.length - 1));
const grpo: Trainer = (rewards) => rewards.map((value) => (value - mean(rewards)) / (std(rewards) + 1e-6));
const noStd: Trainer = (rewards) => rewards.map((value) => value - mean(rewards));

const REWARDS = [
  [1, 0, 0.3],
  [0.5, 0.1, 0.9, 0.2],
];

/** One training step per trainer, each audited against an estimator. */
function audit(trainers: readonly (Trainer | null)[], id = 'grpo', params = {}) {
  const steps = trainers.map((trainer, trainingStep) => {
    const records = REWARDS.flatMap((rewards, group) => {
      const logged = trainer?.(rewards);
      return rewards.map((outcomeReward, i) => ({
        id: `t${trainingStep}-${group}-${i}`,
        group: `g${group}`,
        trainingStep,
        outcomeReward,
        turns: [0, 1].map((turn) => ({
          reward: turn === 1 ? outcomeReward : 0,
          ...(logged && { signals: { loggedAdvantage: Math.fround(logged[i]) } }),
        })),
      }));
    });
    const trajectories = trajectoryBatch(records);
    const values = numbers(trajectories, 'turn.loggedAdvantage') ?? new Float64Array(14).fill(NaN);
    const claim = claimOf(trajectories, { id, params }, { level: 'turn' });
    if ('missing' in claim) throw new Error(JSON.stringify(claim.missing));
    return { trainingStep, audit: auditStep(trajectories, claim, { level: 'turn', values }) };
  });
  return runAudit(steps, id);
}

it('leaves a correct trainer in peace', () => {
  const found = audit([grpo, grpo, grpo]);
  expect(found).toMatchObject({ trainingSteps: 3, audited: 3, matchShare: 1, changes: [] });
  expect(found.findings).toMatchObject([{ verdict: 'match', trainingSteps: 3, isStable: true, mismatchShare: 0 }]);
  expect(found.sentence).toBe('the logged advantages are those of grpo on all 3 audited training steps');
});

it('says since when another formula holds, and shows the rows', () => {
  const found = audit([grpo, grpo, noStd, noStd, noStd, null]);
  expect(found).toMatchObject({ trainingSteps: 6, audited: 5, matchShare: 0.4 });
  expect(found.changes).toEqual([{ trainingStep: 2, verdict: 'other-formula', formula: 'no-std' }]);
  const [fault, match] = found.findings;
  expect(fault).toMatchObject({ formula: 'no-std', firstStep: 2, lastStep: 4, trainingSteps: 3, isStable: true });
  expect(fault.worst[0]).toMatchObject({ trainingStep: 2, group: 'g1', trajectory: 't2-1-2', turn: null });
  expect(match).toMatchObject({ verdict: 'match', isStable: false });
  expect(found.sentence).toBe(
    'the logged advantages are not those of grpo but of no-std on 3 of 5 audited training steps',
  );
});

it('takes an estimator with params for the formula that it is', () => {
  expect(audit([noStd], 'grpo', { normalizeByStd: false }).findings).toMatchObject([{ verdict: 'match' }]);
  expect(audit([grpo], 'grpo', { normalizeByStd: false }).findings).toMatchObject([
    { verdict: 'other-formula', formula: 'grpo' },
  ]);
});

it('holds any estimator of turns against what was logged per turn', () => {
  const returns: Trainer = (rewards) => rewards.map((value) => value);
  expect(audit([returns], 'discounted-return', { gamma: 1 }).findings).toMatchObject([{ verdict: 'match' }]);
  const halved: Trainer = (rewards) => rewards.map((value) => value / 2);
  expect(audit([halved], 'discounted-return', { gamma: 1 }).findings).toMatchObject([
    { verdict: 'scaled', formula: 'discounted-return' },
  ]);
});

it('names the estimator that was really used', () => {
  const records = [1, 0, 0.4].map((outcomeReward, i) => ({
    id: `t${i}`,
    group: 'g',
    trainingStep: 0,
    outcomeReward,
    turns: [0.25, outcomeReward].map((reward) => ({ reward, state: 's', action: 'a' })),
  }));
  const bare = trajectoryBatch(records);
  const outcome = runEstimator(findEstimator('discounted-return'), bare);
  if (outcome.kind !== 'credit') throw new Error('discounted-return needs turn rewards alone');
  const logged = { level: 'turn', values: outcome.credit.values } as const;
  expect(otherEstimators(bare, logged, 'grpo')).toEqual(['discounted-return']);

  const claim = claimOf(bare, { id: 'grpo', params: {} }, logged);
  if ('missing' in claim) throw new Error('grpo needs outcomes alone');
  const audit = auditStep(bare, claim, logged);
  const { sentence } = runAudit([{ trainingStep: 0, audit, otherEstimators: ['discounted-return'] }], 'grpo');
  expect(sentence).toBe(
    'the logged advantages are not those of grpo on the one audited training step; they are those of discounted-return',
  );
});

it('says that nothing was logged', () => {
  expect(audit([null, null])).toMatchObject({
    audited: 0,
    matchShare: null,
    findings: [],
    sentence: expect.stringContaining('nothing to audit'),
  });
});
