import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countsOf, hasShared, ownFile, readImport, sharedFile } from '../../../test/support/read-import.js';

describe('intercode', () => {
  const OWN = ownFile('intercode/policy-a.json');

  it('acts on the question, then on what came back, with a reward on every turn', async () => {
    const { trajectories, skipped } = await readImport('intercode', [OWN]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      group: '0',
      outcomeReward: 1,
      success: true,
      signals: { hardness: 'easy', finalState: '[(4,)]' },
      turns: [
        { state: 'How many rooms?', action: 'SHOW TABLES', reward: 0.25, signals: { grounded: true } },
        { state: "[('room',)]", action: 'SELECT COUNT(*) FROM room', reward: 1 },
      ],
    });
  });

  it('keeps the blocked action of a failed model call, and a run into the limit', async () => {
    const { trajectories } = await readImport('intercode', [OWN]);
    expect(trajectories[1]).toMatchObject({
      signals: { error: 'the last model call failed' },
      turns: [{ signals: { grounded: false } }, { state: 'Error: no x', action: 'blocked', reward: 0, signals: {} }],
    });
    expect(trajectories[1].signals).not.toHaveProperty('finalState');
    expect(trajectories[2]).toMatchObject({ signals: { truncated: true }, turns: [{}, { reward: -0.1 }] });
  });

  it('tells policies apart that answered alike, by their file or by their name', async () => {
    const ids = async (settings = {}) =>
      (await readImport('intercode', [OWN], settings)).trajectories.map(({ id }) => id);
    expect(await ids({ policy: 'a' })).toEqual(['task-0-a', 'task-1-a', 'task-2-a']);
    expect(await ids()).toEqual(await ids());
    expect((await ids())[0]).toMatch(/^task-0-[0-9a-f]{8}$/);
    await expect(ids({ policies: 'a' })).rejects.toMatchObject({
      code: 'usage.wrong',
      message: 'intercode has no setting policies; there are policy, turnRewards, successAt',
    });
    await expect(ids({ polic: 'a' })).rejects.toMatchObject({
      message: 'intercode has no setting polic: was policy meant?',
    });
  });
});

const skippedBecause = 'intercode on the real files (skipped where ../shared/data/intercode is absent)';

describe.skipIf(!hasShared('intercode'))(skippedBecause, () => {
  it('has the counts of the source', async () => {
    const files = globSync(sharedFile('intercode/sql/*.json.gz')).toSorted();
    const { trajectories, skipped } = await readImport('intercode', files);
    expect(skipped).toEqual([]);
    expect(countsOf(trajectories)).toEqual({
      trajectories: 7236,
      groups: 1034,
      mixed: 828,
      turns: 58487,
      meanOutcome: 0.2555,
    });
    const turns = trajectories.flatMap((trajectory) => trajectory.turns);
    expect(turns.filter(({ reward }) => reward !== 0)).toHaveLength(2204);
    expect(turns.filter(({ reward }) => Number(reward) < 0)).toHaveLength(39);
    expect(trajectories.filter(({ signals }) => signals!.error !== undefined)).toHaveLength(252);

    const visits = trajectories.flatMap(({ id, group, turns: each }) =>
      each.map(({ state }) => ({ id, key: JSON.stringify([group, state]) })),
    );
    const byState = [...Map.groupBy(visits, ({ key }) => key).values()];
    expect(byState).toHaveLength(13799);
    const shared = byState.filter((met) => new Set(met.map(({ id }) => id)).size > 1);
    expect(shared.flat()).toHaveLength(34783);
  });
});
