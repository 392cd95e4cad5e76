import { expect, it } from 'vitest';
import { diagnoseRecords } from '../diagnose.fixture.js';
import { rollout } from './behaviour.fixture.js';
import { generalisationGap, generalisationGapDiagnostic } from './generalisation-gap.js';

it('is the difference to what was seen, with its interval', () => {
  const [gap] = generalisationGap([
    { split: 'seen', n: 70, successes: 56 },
    { split: 'unseen app', n: 80, successes: 48 },
  ]);
  expect(gap.gap).toBeCloseTo(0.2, 12);
  expect(gap.lower).toBeGreaterThan(0.0524);
  expect(gap.upper).toBeLessThan(0.3339);
  expect(generalisationGap([{ split: 'unseen', n: 3, successes: 1 }])).toEqual([]);
});

/** 20 rollouts of each split, of which so many succeed. */
const step = (seen: number, unseen: number) =>
  [seen, unseen].flatMap(
    (solved, s) =>
    Array.from({ length: 20 }, (_, i) => rollout(`${s}-${i}`, `g${s}`, i < solved ? 1 : 0, [{}], { split: s === 0 ? 'seen' : 'unseen app' })), // prettier-ignore
  );

it('warns when the gap grows, not when it is there from the start', () => {
  const run = (...steps: readonly (readonly [number, number])[]) =>
    diagnoseRecords(generalisationGapDiagnostic, steps.map(([seen, unseen]) => step(seen, unseen)), { thresholds: { window: 1 } }); // prettier-ignore
  const growing = run([10, 10], [16, 11], [16, 11], [16, 11]);
  expect(growing.alerts).toMatchObject([{ rule: 'gap-grows', level: 'warn', openedAt: 3, saw: { greatestGrowth: expect.closeTo(0.25, 12) } }]); // prettier-ignore
  expect(growing.sentence).toMatch(/^unseen app is solved 55 % of the time, 25 points less than what was seen \(/);
  expect(run([16, 8], [16, 8], [16, 8], [16, 8]).alerts).toEqual([]);
});

it('says that there is nothing to hold it against', () => {
  const records = [rollout('a', 'g', 1, [{}], { split: 'unseen app' })];
  expect(diagnoseRecords(generalisationGapDiagnostic, [records]).sentence).toBe('cannot be said: needs rollouts of the split `seen` and of another'); // prettier-ignore
});
