import type { TrajectoryRecord } from '#lib/protocol';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openFile } from './open-file.js';
import { tauBench, trajectoryOf } from './tau-bench.importer.js';

/** The real file, beside the checkout. Its numbers are those of its SOURCE.md. */
const FILE = `${import.meta.dirname}/../../../../shared/data/tau-bench/gpt-4o-airline.json.gz`;

async function trajectories(): Promise<TrajectoryRecord[]> {
  const records: TrajectoryRecord[] = [];
  for await (const parsed of tauBench.reader()({ path: FILE, bytes: (await openFile(FILE)).bytes })) {
    if (parsed.kind !== 'trajectory') throw new Error(JSON.stringify(parsed));
    records.push(parsed.trajectory);
  }
  return records;
}

const trialsOf = (all: readonly TrajectoryRecord[], task: number) => all.filter(({ group }) => group === String(task));
const countBy = <T>(items: Iterable<T>) => {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
};

describe.skipIf(!existsSync(FILE))('tau-bench on the real file (skipped where ../shared is absent)', () => {
  it('has the outcomes of every task and trial', async () => {
    const all = await trajectories();
    const outcomes = Array.from({ length: 50 }, (_, task) =>
      trialsOf(all, task)
        .map(({ outcomeReward }) => outcomeReward)
        .join(''),
    );
    expect(outcomes.map((row, task) => `${task}:${row}`).join(' ')).toBe(
      '0:0000 1:0100 2:0010 3:0000 4:0000 5:0100 6:1000 7:0010 8:0000 9:0000 10:0000 11:1000 12:1111 13:0110 14:0000 ' +
        '15:0011 16:0001 17:0001 18:1111 19:0000 20:1111 21:0111 22:0000 23:0000 24:1111 25:0000 26:1010 27:0110 ' +
        '28:0000 29:1000 30:0101 31:1001 32:0000 33:0000 34:1101 35:1111 36:1111 37:0111 38:1111 39:1000 40:1101 ' +
        '41:0101 42:1111 43:1000 44:1010 45:1001 46:0110 47:0100 48:1111 49:1111',
    );
    expect(all).toHaveLength(200);
    expect(new Set(all.map(({ id }) => id)).size).toBe(200);
    expect(all.every(({ success, outcomeReward }) => success === (outcomeReward === 1))).toBe(true);
    expect(all.filter(({ signals }) => signals!.truncated === true)).toHaveLength(5);
  });

  it('has a turn for every assistant message, with the reward on the last', async () => {
    const all = await trajectories();
    expect([0, 1, 2].map((task) => trialsOf(all, task).map(({ turns }) => turns.length))).toEqual([
      [15, 12, 11, 22],
      [5, 10, 9, 7],
      [11, 30, 18, 17],
    ]);
    const turns = all.flatMap((trajectory) => trajectory.turns);
    expect(turns).toHaveLength(2454);
    expect(turns.filter(({ action }) => (action as string).startsWith('respond:'))).toHaveLength(1290);
    expect(turns.filter(({ reward }) => reward === 1)).toHaveLength(84);
    expect(all.filter(({ turns, outcomeReward }) => turns.at(-1)!.reward === outcomeReward)).toHaveLength(200);
    expect(trialsOf(all, 0)[0].turns[0]).toMatchObject({
      reward: 0,
      state: expect.stringMatching(/^user:Hi! I'm looking/),
    });
    const call = turns.find(({ action }) => (action as string).startsWith('search_direct_flight'));
    expect(call!.action).toMatch(/^search_direct_flight\{"date":"[\d-]+","destination":"\w+","origin":"\w+"\}$/);
  });

  it('has the states of the source: 1798, of which 288 are met again and 910 turns share one with another trial', async () => {
    const visits = (await trajectories()).flatMap(({ id, group, turns }) =>
      turns.map(({ state, action }) => ({
        id,
        key: JSON.stringify([group, state]),
        action,
        tool: (state as string).startsWith('tool:'),
      })),
    );
    const byState = Map.groupBy(visits, ({ key }) => key);
    expect(byState.size).toBe(1798);
    const again = [...byState.values()].filter((met) => met.length > 1);
    expect(again).toHaveLength(288);
    const shared = again.filter((met) => new Set(met.map(({ id }) => id)).size > 1);
    expect(shared).toHaveLength(276);
    expect(shared.flat()).toHaveLength(910);
    expect(shared.flat().filter(({ tool }) => tool)).toHaveLength(875);
    expect([...byState.values()].filter((met) => new Set(met.map(({ action }) => action)).size > 1)).toHaveLength(195);
    const lengths = countBy([...byState.values()].map((met) => Math.min(10, met.length)));
    expect([...lengths].toSorted(([a], [b]) => a - b)).toEqual([
      [1, 1510],
      [2, 90],
      [3, 67],
      [4, 116],
      [5, 8],
      [6, 1],
      [7, 3],
      [9, 1],
      [10, 2],
    ]);
    expect(visits.filter(({ tool }) => tool)).toHaveLength(1113);
  });
});

describe('tau-bench', () => {
  const crash = { task_id: 7, trial: 2, reward: 0, traj: [], info: { error: 'rate limit', traceback: 'line 1' } };

  it('keeps a crashed episode, without turns and with its error', () => {
    expect(trajectoryOf(crash)).toMatchObject({
      group: '7',
      outcomeReward: 0,
      success: false,
      turns: [],
      signals: { trial: 2, error: 'rate limit', traceback: 'line 1' },
    });
  });

  it('keeps several calls of one message in one turn, and arguments that are no JSON as they are', () => {
    const calls = [
      { function: { name: 'b', arguments: '{"z":1,"a":{"d":2,"c":3}}' } },
      { function: { name: 'a', arguments: '{broken' } },
    ];
    const traj = [
      { role: 'user', content: 'do it' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', content: 'done' },
    ];
    const trajectory = trajectoryOf({ ...crash, reward: 0.5, traj, info: { reward_info: null } });
    expect(trajectory).toMatchObject({
      success: false,
      turns: [{ state: 'user:do it', action: 'b{"a":{"c":3,"d":2},"z":1}\na{broken', reward: 0.5 }],
      signals: { truncated: true, toolCalls: 2, finalState: 'tool:done' },
    });
  });

  it('tells two policies on the same task and trial apart', () => {
    const id = (content: string) => trajectoryOf({ ...crash, traj: [{ role: 'assistant', content }], info: {} }).id;
    expect(id('a')).not.toBe(id('b'));
    expect(id('a')).toBe(id('a'));
    expect(id('a')).toMatch(/^task-7-trial-2-[0-9a-f]{8}$/);
  });
});
