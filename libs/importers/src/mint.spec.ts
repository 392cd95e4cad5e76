import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countsOf, hasShared, ownFile, readImport, sharedFile } from '../../../test/support/read-import.js';

const OWN = ownFile('mint/policy-a__max2.jsonl');

describe('mint', () => {
  it('has a turn per assistant message, and states without what counts down', async () => {
    const { trajectories, skipped } = await readImport('mint', [OWN]);
    expect(skipped).toEqual([]);
    expect(trajectories[0]).toMatchObject({
      group: 'find-key',
      outcomeReward: 1,
      success: true,
      signals: { dataset: 'own/find', ended: 'task_success', finalState: 'Found.' },
      turns: [
        { state: 'Task: find the key.', action: '<execute>look()</execute>' },
        { state: 'A drawer.\nIt is closed.', action: '<solution>drawer</solution>' },
      ],
    });
    expect(trajectories[1]).toMatchObject({ success: false, signals: { ended: 'max_steps', truncated: true } });
    expect(trajectories[1].signals).not.toHaveProperty('finalState');
  });

  it('keeps several rollouts of one task apart, and those of two policies', async () => {
    const { trajectories } = await readImport('mint', [OWN], { policy: 'a' });
    expect(trajectories.map(({ id }) => id)).toEqual(['find-key-a', 'find-cup-a', 'find-key-a-2']);
    expect(trajectories[0].signals).toMatchObject({ policy: 'a' });
    const unnamed = await readImport('mint', [OWN]);
    expect(unnamed.trajectories[0].id).toMatch(/^find-key-[0-9a-f]{8}$/);
  });
});

const skippedBecause = 'mint on the real files (skipped where ../shared/data/mint-bench is absent)';

describe.skipIf(!hasShared('mint-bench'))(skippedBecause, () => {
  it('has the counts of the source for eight policies', async () => {
    const { trajectories, skipped } = await readImport('mint', globSync(sharedFile('mint-bench/*__max5.jsonl.gz')));
    expect(skipped).toEqual([]);
    expect(countsOf(trajectories)).toEqual({
      trajectories: 1072,
      groups: 134,
      mixed: 129,
      turns: 3528,
      meanOutcome: 0.4953,
    });
    const visits = trajectories.flatMap(({ id, group, turns }) =>
      turns.map(({ state }, t) => ({ id, t, key: JSON.stringify([group, state]) })),
    );
    const byState = [...Map.groupBy(visits, ({ key }) => key).values()];
    const shared = byState.filter((met) => new Set(met.map(({ id }) => id)).size > 1).flat();
    expect([byState.length, shared.length, shared.filter(({ t }) => t > 0).length]).toEqual([1806, 2178, 1106]);
    const ends = Map.groupBy(trajectories, ({ signals }) => signals!.ended as string);
    expect([...ends].map(([end, of]) => `${end} ${of.length}`).toSorted()).toEqual([
      'error 7',
      'max_propose_steps 349',
      'max_steps 185',
      'task_success 531',
    ]);
  });

  it('has the counts of the source for one policy at four budgets', async () => {
    const files = globSync(sharedFile('mint-bench/Meta-Llama-3-8B-Instruct__alfworld__max*.jsonl.gz'));
    const { trajectories } = await readImport('mint', files);
    expect(countsOf(trajectories)).toEqual({
      trajectories: 536,
      groups: 134,
      mixed: 54,
      turns: 1512,
      meanOutcome: 0.2799,
    });
  });
});
