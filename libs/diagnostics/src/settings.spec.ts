import { RecreditError } from '#lib/kernel';
import { expect, it } from 'vitest';
import { alertsOf } from './alerts.js';
import { DIAGNOSTICS } from './catalogue/index.js';
import { checkSettings, settingNames, settingsOf } from './settings.js';

const of = (id: string) => DIAGNOSTICS.find((diagnostic) => diagnostic.id === id)!;

it('divides what is given into params and thresholds, and fills in the rest', () => {
  const { params, thresholds, hold } = settingsOf(of('failure-clusters'), { gram: 3, window: 7 });
  expect([params, thresholds, hold]).toEqual([
    { similarity: 0.6, gram: 3 },
    { window: 7, alike: 0.6, manyTasks: 5 },
    {},
  ]);
});

it('gives every setting of a diagnostic one name, and every diagnostic takes its defaults', () => {
  for (const diagnostic of DIAGNOSTICS) {
    const names = settingNames(diagnostic);
    expect(names).toEqual([...new Set(names)]);
    expect(() => settingsOf(diagnostic)).not.toThrow();
  }
});

it('parses the same settings once, and those that are wrong are wrong each time', () => {
  const [trend, given, wrong] = [of('entropy-trend'), { trendSteps: 7 }, { trendSteps: -7 }];
  expect(settingsOf(trend, given)).toBe(settingsOf(trend, given));
  expect(settingsOf(trend)).toBe(settingsOf(trend));
  expect(settingsOf(trend).thresholds).not.toEqual(settingsOf(trend, given).thresholds);
  expect(settingsOf(of('failure-clusters'))).not.toEqual(settingsOf(trend));
  for (let time = 0; time < 2; time++) expect(() => settingsOf(trend, wrong)).toThrow(RecreditError);
});

it.each([
  [
    { 'entropy-trend': { targetEntropy: -1 } },
    'entropy-trend.targetEntropy: Too small: expected number to be >0; found -1',
  ],
  [
    { 'entropy-trend': { targetEntropy: '0.3' } },
    'entropy-trend.targetEntropy: Invalid input: expected number, received string; found "0.3"',
  ],
  [
    { 'entropy-trend': { target: 1 } },
    'entropy-trend has no setting target: one of baselineSteps, trendSteps, targetEntropy, riseFactor, spentShare, hold was wanted',
  ],
  [{ 'entropy-trend': { targetEntrop: 1 } }, /^entropy-trend has no setting targetEntrop: was targetEntropy meant\?$/],
  [{ 'entropy-tend': {} }, /^no diagnostic is named entropy-tend: was entropy-trend meant\?$/],
  [{ entropy: {} }, /^no diagnostic is named entropy: one of zero-variance-groups, .+ was wanted$/],
  [{ 'entropy-trend': { hold: 0 } }, /^entropy-trend\.hold: .+; found 0$/],
  [{ 'entropy-trend': { hold: { off: 2 } } }, /^entropy-trend\.hold: .+; found \{"off":2\}$/],
])('says what was wanted and what was found: %j', (settings, message) => {
  // prettier-ignore
  expect(() => checkSettings(DIAGNOSTICS, settings)).toThrow(message);
  expect(() => checkSettings(DIAGNOSTICS, settings)).toThrow(RecreditError);
});

it('lets a rule wait for as many training steps running as it is told', () => {
  const rule = { id: 'r', level: 'warn', all: [{ value: 'x', op: '>', limit: 0 }], says: 's' } as const;
  const steps = [1, 1, 1, 0, 1, 1, 1, 1, 0].map((x, trainingStep) => ({
    trainingStep,
    values: { x },
    observations: 9,
  }));
  const openedWith = (hold: unknown) =>
    alertsOf(steps, [rule], settingsOf(of('entropy-trend'), hold === null ? {} : { hold }).hold).map(({ openedAt }) => openedAt); // prettier-ignore
  expect(openedWith(null)).toEqual([2]);
  expect(openedWith(4)).toEqual([7]);
  expect(openedWith({ of: 4 })).toEqual([4]); // of the last five
  expect(openedWith({ of: 5, within: 6 })).toEqual([5]);
  expect(openedWith({ of: 7, within: 8 })).toEqual([7]);
  expect(openedWith({ of: 6 })).toEqual([]); // of the last six: the window is no shorter
  expect(openedWith(9)).toEqual([]);
  expect(openedWith({ of: 1, clear: 1 })).toEqual([0, 4]);
});
