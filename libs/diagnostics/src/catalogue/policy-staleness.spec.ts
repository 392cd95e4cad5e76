import { trajectoryBatch } from '#lib/dataset';
import { expect, it } from 'vitest';
import { diagnoseSteps, times } from '../diagnose-steps.fixture.js';
import { tokenBatch, tokenRecords } from '../token-records.fixture.js';
import { policyStaleness, policyStalenessDiagnostic } from './policy-staleness.js';

const OPTIONS = { clipLow: 0.2, clipHigh: 0.28, isThreshold: 2 };
it('agrees with hand-worked ratios of 2 and one half', () => {
  const ln2 = Math.LN2;
  const trajectories = tokenBatch({ logprob: [-1, -1], rolloutLogprob: [-1 - ln2, -1 + ln2] });
  const found = policyStaleness(trajectories, Float64Array.of(1, -1), OPTIONS);
  expect(found).toMatchObject({ tokenCount: 2, clipLowFraction: 0.5, clipHighFraction: 0.5, clipFraction: 1 });
  expect(found.kl).toBeCloseTo(0, 12);
  expect(found.k2).toBeCloseTo(ln2 ** 2 / 2, 12);
  expect(found.k3).toBeCloseTo(0.25, 12);
  expect(found.meanRatio).toBeCloseTo(1.25, 12);
  expect(found.chi2Token).toBeCloseTo((4 + 0.25) / 2 - 1, 12);
  expect(found.chi2Sequence).toBeCloseTo(0, 12);
  expect(found.effectiveSampleShare).toBeCloseTo(2.5 ** 2 / (2 * 4.25), 12);
});

it('cuts importance weights', () => {
  const trajectories = tokenBatch({ logprob: [-1, -1], rolloutLogprob: [-1 - Math.log(8), -1] });
  const { effectiveSampleShare, maxRatio } = policyStaleness(trajectories, null, OPTIONS);
  expect(maxRatio).toBeCloseTo(8, 12);
  expect(effectiveSampleShare).toBeCloseTo(9 / (2 * 5), 12);
});

it('clips by the sign of the advantage, and not where none is known', () => {
  const trajectories = tokenBatch({ logprob: [-1, -1], rolloutLogprob: [-2, 0] });
  expect(policyStaleness(trajectories, Float64Array.of(-1, 1), OPTIONS).clipFraction).toBe(0);
  expect(policyStaleness(trajectories, null, OPTIONS).clipFraction).toBeNull();
});

it('counts the lag of policy versions over the trajectories that say one', () => {
  const records = [3, 5, null].map((policyVersion, i) => ({
    id: `t${i}`,
    group: 'g',
    trainingStep: 5,
    signals: policyVersion === null ? {} : { policyVersion },
    turns: [],
  }));
  expect(policyStaleness(trajectoryBatch(records), null, OPTIONS).versionLag).toBe(1);
});

const steps = (difference: number) =>
  times(3, {
    records: tokenRecords({
      logprob: times(8, -1),
      rolloutLogprob: times(8, -1 + difference),
      loggedAdvantage: times(8, 1),
    }),
  });

it('warns of policies that are apart, and shows where', () => {
  const { alerts, evidence } = diagnoseSteps(policyStalenessDiagnostic, steps(0.9));
  expect(alerts.map(({ rule }) => rule).sort()).toEqual(['far-off', 'ratio-off']);
  expect(evidence[0]).toMatchObject({ group: 'g', trajectory: 't0', note: 'log-probabilities differ by 0.9 nats per token' }); // prettier-ignore
});

it('takes a negative divergence for wrong pairs', () => {
  expect(diagnoseSteps(policyStalenessDiagnostic, steps(-0.05)).alerts.map(({ rule }) => rule)).toEqual(['wrong-sign']);
});

it('is silent about equal policies', () => {
  const { alerts, values, evidence } = diagnoseSteps(policyStalenessDiagnostic, steps(0));
  expect(alerts).toEqual([]);
  expect(evidence).toEqual([]);
  expect(values).toMatchObject({ kl: 0, effectiveSampleShare: 1, weightStd: 0 });
});
