import { join } from 'node:path';
import { findEstimator } from '#lib/credit';
import { expect, it } from 'vitest';

// Threads run what is built; in the specs beside the code an estimate is computed in the test's own thread.
const BUILT = join(import.meta.dirname, '../../dist/apps/api/src/index.js');

const rollout = (id: string, outcomeReward: number, turns = 1) => ({
  id,
  group: 'g',
  trainingStep: 0,
  outcomeReward,
  turns: Array.from({ length: turns }, (_, i) => ({ state: `${i % 97} of ${id}`, action: 'a' })),
});

it('estimates in threads, ends what takes too long, and goes on', async () => {
  const { Estimation } = (await import(BUILT)) as typeof import('#app/api');
  const grpo = findEstimator('grpo');
  const patient = new Estimation();
  const hasty = new Estimation([], 0.001);
  try {
    const params = { normalizeByStd: false };
    const said = await patient.estimate(grpo, [rollout('a', 1), rollout('b', 0)], params);
    expect(said).toMatchObject({ kind: 'credit', trajectoryAdvantage: [0.5, -0.5] });
    await expect(patient.estimate(grpo, [rollout('a', 1)], { gama: 1 })).rejects.toMatchObject({
      code: 'params.invalid',
      details: { estimator: 'grpo' },
    });

    const many = Array.from({ length: 2_000 }, (_, i) => rollout(`t${i}`, i % 3, 25));
    await expect(hasty.estimate(grpo, many, {})).rejects.toMatchObject({
      code: 'query.too-costly',
      message: expect.stringContaining('took more than 0.001 s'),
    });
    const others = Array.from({ length: 30 }, (_, i) => patient.estimate(grpo, many.slice(i, i + 50), {}));
    const settled = await Promise.allSettled(others);
    const refused = settled.filter((each) => each.status === 'rejected').map(({ reason }) => reason.code);
    expect(new Set(refused)).toEqual(new Set(['capacity.exceeded']));
    expect(refused.length).toBeLessThan(30);
    expect(await patient.estimate(grpo, [rollout('a', 1)], {})).toMatchObject({ kind: 'credit' });
  } finally {
    await Promise.all([patient.close(), hasty.close()]);
  }
});
