import { describe, expect, it } from 'vitest';
import { ownFile, readImport } from '../../../test/support/read-import.js';

/** Written by pandas, as TRL does: the first with snappy, the second with zstd and two rows a row group. */
const OWN = [ownFile('trl/completions_00003.parquet'), ownFile('trl/completions_00004.parquet')];

describe('trl', () => {
  it('adds up the reward columns, and keeps the advantage that TRL used', async () => {
    const { trajectories, skipped } = await readImport('trl', OWN);
    expect(skipped).toEqual([]);
    expect(trajectories.map(({ trainingStep, outcomeReward }) => [trainingStep, outcomeReward])).toEqual([
      [3, 1.5],
      [3, 0.25],
      [3, 0.5],
      [3, null],
      [4, 1.5],
      [4, 0.25],
      [4, 0.5],
      [4, null],
    ]);
    expect(trajectories[0]).toMatchObject({
      signals: { accuracy: 1, brevity: 0.5 },
      turns: [{ state: '2 + 2?', action: '4', signals: { loggedAdvantage: 0.7 } }],
      source: { source: 'own' },
    });
    expect(trajectories[1].group).toBe(trajectories[0].group);
    expect(trajectories[2].group).not.toBe(trajectories[0].group);
  });

  it('takes the reward columns and weights that the settings name', async () => {
    const { trajectories } = await readImport('trl', OWN, { rewards: 'accuracy', weights: '2' });
    expect(trajectories.slice(0, 3).map(({ outcomeReward }) => outcomeReward)).toEqual([2, 0, null]);
    const { skipped } = await readImport('trl', OWN.slice(0, 1), { rewards: 'accuracy,style' });
    expect(skipped[0]).toEqual({ where: '[0]', why: 'it has no column style' });
  });

  it('refuses what is no Parquet', async () => {
    const { trajectories, skipped } = await readImport('trl', [ownFile('verl/12.jsonl')]);
    expect(trajectories).toEqual([]);
    expect(skipped).toEqual([{ where: '', why: expect.stringContaining('the rest cannot be read: parquet') }]);
  });
});
