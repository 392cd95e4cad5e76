import { trajectoryBatch } from '#lib/dataset';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditOf, estimateOf, rollout, rollouts } from '../estimator.fixture.js';
import { runEstimator } from '../run-estimator.js';
import { dapoDynamicSampling } from './dapo-dynamic-sampling.js';
import { grpo } from './grpo.js';

const RECORDS = [...rollouts('g0', 1, 1, 1), rollout('g1', 0, [{}, {}]), rollout('g1', 1), rollout('g2', 1, [])];
const scored = (group: string, outcomeReward: number, answerScore: unknown) => ({
  ...rollout(group, outcomeReward),
  signals: { answerScore: answerScore as number },
});
const rewards = fc.array(fc.constantFrom(0, 0.1, 0.3, 1), { minLength: 1, maxLength: 5 });

describe('dapo-dynamic-sampling', () => {
  it('keeps the groups that vary, and a group of one', () => {
    const { trajectoryAdvantage, columns } = estimateOf(dapoDynamicSampling, RECORDS);
    expect(trajectoryAdvantage).toEqual([0, 0, 0, 1, 1, 1]);
    expect(columns.keptTrajectory).toEqual(trajectoryAdvantage);
    expect(columns.keptGroups).toEqual(['g1', 'g2']);
    expect(columns.keptTurns).toEqual([[0], [0], [0], [1, 1], [1], []]);
    expect(columns.droppedShare).toBeCloseTo(1 / 3, 12);
  });

  it('drops a group of one where verl-agent does', () => {
    const { columns } = estimateOf(dapoDynamicSampling, RECORDS, { keepSingletons: false });
    expect(columns.keptGroups).toEqual(['g1']);
  });

  it('takes values that differ by rounding for equal', () => {
    const thrice = [0.1, 0.1, 0.1].map((x) => x * 3);
    expect(estimateOf(dapoDynamicSampling, rollouts('g', ...thrice, 0.3)).columns.keptGroups).toEqual([]);
    expect(estimateOf(dapoDynamicSampling, rollouts('g', 0.3, 0.3001)).columns.keptGroups).toEqual(['g']);
  });

  it('looks at the metric it is told, which has to be a number on every trajectory', () => {
    const records = [scored('g', 1, 0.5), scored('g', 0, 0.5), scored('h', 1, 1), scored('h', 1, 0)];
    const metric = { metric: 'answerScore' };
    expect(estimateOf(dapoDynamicSampling, records).columns.keptGroups).toEqual(['g']);
    expect(estimateOf(dapoDynamicSampling, records, metric).columns.keptGroups).toEqual(['h']);
    const missing = (...more: typeof records) =>
      runEstimator(dapoDynamicSampling, trajectoryBatch([...records, ...more]), metric);
    expect(missing(scored('g', 1, null))).toMatchObject({ missing: [{ path: 'trajectory.answerScore', rows: 1, of: 5 }] }); // prettier-ignore
    expect(missing(scored('g', 1, 'good')).kind).toBe('missing');
    expect(() => creditOf(dapoDynamicSampling, records, { metric: 'answer score' })).toThrow(/metric/);
  });

  it('drops what group-relative credit gives 0 to, and no shift or scale changes that', () => {
    fc.assert(
      fc.property(
        rewards,
        rewards,
        fc.integer({ min: -9, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (g, h, shift, scale) => {
          // prettier-ignore
          const records = [...rollouts('g', ...g), ...rollouts('h', ...h)];
          const { values } = creditOf(dapoDynamicSampling, records, { keepSingletons: false });
          const credit = creditOf(grpo, records, { singleton: 'zero' }).values;
          for (const group of ['g', 'h']) {
            const rows = records.flatMap((record, i) => (record.group === group ? [i] : []));
            expect(rows.some((i) => credit[i] !== 0)).toBe(values[rows[0]] === 1);
            expect(rows.every((i) => values[i] === values[rows[0]])).toBe(true);
          }
          const moved = records.map((record) => ({ ...record, outcomeReward: scale * record.outcomeReward! + shift }));
          expect(creditOf(dapoDynamicSampling, moved, { keepSingletons: false }).values).toEqual(values);
        },
      ),
    );
  });

  it('answers for no trajectory', () => {
    const { columns } = estimateOf(dapoDynamicSampling, []);
    expect(columns).toMatchObject({ keptGroups: [], keptTrajectory: [], droppedShare: 0 });
  });
});
