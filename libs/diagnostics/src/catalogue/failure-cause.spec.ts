import { trajectoryBatch } from '#lib/dataset';
import type { Turn } from '#lib/protocol';
import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { failureCauses } from '../failure-causes.js';
import { failureCauseDiagnostic } from './failure-cause.js';

const LIMITS = { maxTurns: null, maxTokens: null };

/** The only failure of a group with a success of four turns that nobody else resembles. */
function causeOf(turns: readonly Turn[], signals = {}, limits: Partial<typeof LIMITS> & object = {}) {
  const solved = rollout('good', 'g', 1, ['p', 'q', 'r', 's'].map((state) => ({ state, action: state }))); // prettier-ignore
  const batch = trajectoryBatch([solved, rollout('bad', 'g', 0, turns, signals)]);
  return failureCauses(batch, { ...LIMITS, ...limits })[0].cause;
}

const plain: Turn[] = ['1', '2', '3'].map((state) => ({ state, action: state }));
const estimated = (estimates: readonly (number | undefined)[]): Turn[] =>
  estimates.map((successEstimate, t) => ({ ...plain[t], signals: { successEstimate } }) as Turn);
const said = (signals: Turn['signals']): Turn[] => plain.map((turn) => ({ ...turn, signals }));

it.each([
  ['envError', causeOf(plain, { envError: true, truncated: true })],
  ['envError', causeOf(plain, { finishReason: 'environment_crashed' })],
  ['truncated', causeOf(plain, { finishReason: 'length' })],
  ['truncated', causeOf(plain, {}, { maxTurns: 3 } as never)],
  ['formatError', causeOf(said({ formatOk: false }))],
  ['invalidActions', causeOf(said({ isActionValid: false }))],
  ['toolFailures', causeOf(said({ toolName: 'search', toolError: true, isActionValid: true }))],
  ['loop', causeOf([1, 2, 3].map(() => ({ state: 'x', action: 'look' })))],
  ['stagnation', causeOf(['a', 'b', 'c', 'd', 'e', 'f'].map((action) => ({ state: 'x', action })))],
  ['regressed', causeOf(estimated([0.7, 0.3, 0.1]))],
  ['regressed', causeOf(estimated([0.5, 0.4, 0.3]))],
  ['unknown', causeOf(estimated([undefined, 0.5, 0.4]))],
  ['unknown', causeOf(estimated([0.4, 0.5, 0.6]))],
  ['gaveUpEarly', causeOf(plain.slice(0, 1))],
  ['neverOnTrack', causeOf(said({ successEstimate: 0.05 }))],
  ['wrongAnswer', causeOf(plain, { finalAnswer: '42' })],
  ['unknown', causeOf(plain)],
])('%s', (expected, found) => expect(found).toBe(expected));

it('knows that nobody succeeded where a failure went', () => {
  const failing = ['a', 'b', 'c', 'd'].map((id) => rollout(id, 'g', 0, [{ state: 'x', action: id }]));
  const causes = (records: typeof failing) => failureCauses(trajectoryBatch(records), LIMITS).map(({ cause }) => cause);
  expect(causes(failing)).toEqual(['neverOnTrack', 'neverOnTrack', 'neverOnTrack', 'neverOnTrack']);
  expect(causes(failing.slice(1))).toEqual(['unknown', 'unknown', 'unknown']);
});

it('holds the length of a failure against the median of the successes, whatever the longest of them is', () => {
  const taking = (id: string, outcome: number, turns: number) =>
    rollout(
      id,
      'g',
      outcome,
      Array.from({ length: turns }, (_, t) => ({ state: `${id}${t}`, action: 'go' })),
    );
  const causes = (...lengths: number[]) =>
    failureCauses(
      trajectoryBatch([taking('f', 0, 3), ...lengths.map((turns, i) => taking(`s${i}`, 1, turns))]),
      LIMITS,
    ).map(({ cause }) => cause);
  expect(causes(2, 2, 20)).toEqual(['unknown']);
  expect(causes(2, 8, 20)).toEqual(['gaveUpEarly']);
});

it('warns of an environment that breaks rollouts, and of limits', () => {
  const run = (signals: object) => {
    const step = Array.from({ length: 40 }, (_, i) => rollout(`${i}`, `g${i}`, i < 5 ? 0 : 1, plain, i < 5 ? { ...signals } : {})); // prettier-ignore
    return diagnoseRecords(failureCauseDiagnostic, [step, step, step]);
  };
  expect(run({ envError: true }).alerts.map(({ rule }) => rule)).toEqual(['environment-breaks']);
  const cut = run({ truncated: true });
  expect(cut.alerts.map(({ rule }) => rule)).toEqual(['cut-off']);
  expect(cut.sentence).toBe('of the failures 100 % were cut off');
  expect(run({}).alerts.map(({ rule }) => rule)).toEqual(['causes-unknown']);
  expect(run({ finalAnswer: 'x' }).alerts).toEqual([]);
});
