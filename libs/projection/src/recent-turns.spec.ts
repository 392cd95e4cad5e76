import { describe, expect, it } from 'vitest';
import { anEvent, logged } from './events.builder.js';
import { RecentTurns } from './recent-turns.js';

const positions = (recent: RecentTurns, runId: string) => [...(recent.of(runId)?.keys() ?? [])];
// each turn counts as 64 + 7 + 8 bytes
const turns = (count: number) => Array.from({ length: count }, (_, i) => anEvent.turn('t', i));

describe('RecentTurns', () => {
  it('remembers events that hold turns until a segment has them', () => {
    const recent = new RecentTurns();
    recent.add('a', logged([anEvent.turn('t', 0), anEvent.step(1), anEvent.whole('w', 1), anEvent.end('t')]));
    recent.add('a', logged([anEvent.turn('t', 1)], 4));
    expect(positions(recent, 'a')).toEqual([0, 2, 4]);
    recent.drop('a', [0, 1, 2]);
    expect(positions(recent, 'a')).toEqual([4]);
  });

  it('forgets the runs that were used longest ago when there is too much', () => {
    const recent = new RecentTurns(400);
    recent.add('a', logged(turns(2)));
    recent.add('b', logged(turns(2)));
    recent.add('a', logged(turns(1), 2));
    expect([positions(recent, 'a').length, positions(recent, 'b').length]).toEqual([3, 2]);
    recent.add('a', logged(turns(1), 3));
    expect([positions(recent, 'a').length, positions(recent, 'b').length]).toEqual([4, 0]);
    recent.add('a', logged(turns(9), 4));
    expect(positions(recent, 'a')).toEqual([]);
    recent.add('a', logged(turns(5), 20));
    expect(positions(recent, 'a')).toHaveLength(5);
  });
});
