import { describe, expect, it } from 'vitest';
import { SIGNALS } from './signal-catalogue.js';
import { recordedInstead, signalAt, suggestSignal } from './suggest-signal.js';

describe('the catalogue of signals', () => {
  it('has each name once, in camelCase, with a meaning', () => {
    const names = SIGNALS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name))).toEqual([]);
    for (const { levels, meaning } of SIGNALS) {
      expect(levels.length).toBeGreaterThan(0);
      expect(meaning).not.toBe('');
    }
    expect(names.length).toBeGreaterThan(120);
  });

  it('knows a signal at its levels, and the votes of annotators with it', () => {
    expect(signalAt('turn.valueEstimate')).toMatchObject({ kind: 'number' });
    expect(signalAt('turn.humanLabel@anna')).toMatchObject({ name: 'humanLabel' });
    expect(signalAt('turn.humanLabel@anna#1')).toMatchObject({ name: 'humanLabel' });
    expect(signalAt('token.valueEstimate')).toBeUndefined();
    expect(signalAt('turn.constructor')).toBeUndefined();
  });
});

describe('a signal that nobody knows', () => {
  it.each([
    ['turn.value_estimate', 'turn.valueEstimate'],
    ['turn.valuEstimate', 'turn.valueEstimate'],
    ['token.logprobs', 'token.logprob'],
    ['token.valueEstimate', 'turn.valueEstimate'],
    ['turn.outcomeReward', 'trajectory.outcomeReward'],
    ['turn.formatok', 'turn.formatOk'],
    ['trajectory.valuEstimate', 'turn.valueEstimate'],
    ['trajectory.outcomeRewrad', 'trajectory.outcomeReward'],
    ['turn.mask', 'token.mask'],
  ])('%s was perhaps %s', (path, meant) => expect(suggestSignal(path)).toBe(meant));

  it.each(['turn.valueEstimate', 'turn.myOwnThing', 'turn.valueEstimate@judge', 'trajectory.task', 'turn.ask'])(
    '%s was no other',
    (path) => expect(suggestSignal(path)).toBeNull(),
  );

  it('is known where an own estimator reads it', () => {
    expect(suggestSignal('turn.entropyy', ['turn.entropyy'])).toBeNull();
    expect(suggestSignal('turn.myOwnThin', ['turn.myOwnThing'])).toBe('turn.myOwnThing');
  });
});

describe('a missing signal', () => {
  const recorded = ['turn.value_estimate', 'turn.valueLow', 'trajectory.reward', 'token.entropyy', 'turn.subgoal@anna'];
  it.each([
    ['turn.valueEstimate', 'turn.value_estimate'],
    ['turn.reward', 'trajectory.reward'],
    ['token.entropy', 'token.entropyy'],
    ['turn.valueHigh', null],
    ['turn.subgoal', null],
  ])('%s was perhaps recorded as %s', (missing, found) => expect(recordedInstead(missing, recorded)).toBe(found));
});
