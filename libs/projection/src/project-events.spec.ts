import type { RunEvent } from '#lib/protocol';
import { describe, expect, it } from 'vitest';
import { anEvent, logged } from './events.builder.js';
import { projectEvents } from './project-events.js';
import { WorkingSet } from './working-set.js';

const NEVER_FULL = { turns: Infinity, bytes: Infinity };

/** The set after the events, and the positions at which the fold stopped. */
function fold(events: readonly RunEvent[], size = NEVER_FULL) {
  const set = new WorkingSet();
  const cuts: number[] = [];
  for (let next = 0; next < events.length;) {
    const part = projectEvents(set, logged(events), next, size);
    next = part.next;
    if (!part.boundary) continue;
    cuts.push(next - 1);
    Object.assign(set.checkpoint, { waitingTurns: 0, waitingBytes: 0, waitingTrajectories: 0 });
  }
  return { set, cuts };
}

describe('projectEvents', () => {
  it('counts trajectories per group, training step and run', () => {
    const { set } = fold([
      anEvent.whole('a', 2, { outcomeReward: 1, success: true }),
      anEvent.whole('b', 3, { outcomeReward: 0.25, success: false }),
      anEvent.whole('c', 1, { group: 'h' }),
      anEvent.turn('d', 0, { group: 'h', trainingStep: 1 }),
      anEvent.turn('e', 1, { group: 'h', trainingStep: 1 }),
      anEvent.end('e', { group: 'h', trainingStep: 1 }),
    ]);
    const counts = {
      trajectoryCount: 2,
      finishedCount: 2,
      turnCount: 5,
      judgedCount: 2,
      successCount: 1,
      outcomeSum: 1.25,
    };
    expect(set.groups.change('g', 0)).toMatchObject({ ...counts, outcomeMin: 0.25, outcomeMax: 1, outcomeCount: 2 });
    expect(set.groups.change('h', 0)).toMatchObject({ trajectoryCount: 1, outcomeCount: 0, outcomeMin: null });
    expect(set.steps.change(0)).toMatchObject({ trajectoryCount: 3, groupCount: 2, turnCount: 6 });
    expect(set.steps.change(1)).toMatchObject({
      trajectoryCount: 2,
      finishedCount: 0,
      incompleteCount: 1,
      turnCount: 2,
    });
    expect(set.run).toMatchObject({
      trajectoryCount: 5,
      finishedCount: 3,
      judgedCount: 2,
      groupCount: 3,
      trainingStepMax: 1,
      position: 6,
    });
  });

  it('counts a trajectory that becomes whole late as finished and no longer as incomplete', () => {
    const { set } = fold([anEvent.end('a', { turnCount: 1, outcomeReward: 2, success: 1 }), anEvent.turn('a', 0)]);
    const counts = { finishedCount: 1, incompleteCount: 0, turnCount: 1, outcomeSum: 2, successCount: 1 };
    expect(set.run).toMatchObject(counts);
    expect(set.groups.change('g', 0)).toMatchObject({ ...counts, outcomeMin: 2 });
  });

  it('keeps sketches of checkpoints as float32, and none of what holds no numbers', () => {
    const tensors = [{ name: 'a', size: 2, more: 1 }, { name: 'b', size: 1 }]; // prettier-ignore
    const { set } = fold([
      anEvent.checkpoint(3, { sketch: [0.1, null, 2], tensors, projection: { seed: 1 } }),
      anEvent.checkpoint(4, { sketch: { f32: 'AACAPwAAAEA=' } }),
      anEvent.checkpoint(5, { sketch: ['of old'] }),
      anEvent.checkpoint(6, { tensors: 'of old' }),
    ]);
    const floats = set.sketches.map(({ sketch }) => Array.from({ length: sketch.length / 4 }, (_, i) => Buffer.from(sketch).readFloatLE(i * 4))); // prettier-ignore
    expect(floats).toEqual([[Math.fround(0.1), NaN, 2], [1, 2], [0.5, -2]]); // prettier-ignore
    expect(set.sketches).toMatchObject([
      { position: 0, trainingStep: 3, tensors: [{ name: 'a', size: 2 }, { name: 'b', size: 1 }], projection: { seed: 1 } },
      { position: 1, trainingStep: 4, tensors: null, projection: null },
      { position: 3, trainingStep: 6, tensors: null },
    ]); // prettier-ignore
  });

  it('summarises signals by level, the fields of the protocol among them', () => {
    const { set } = fold([
      anEvent.turn('a', 0, { reward: 2, signals: { v: -1, note: 'x', gone: null }, tokens: { logprob: [-1, null] } }),
      anEvent.turn('a', 1, { reward: null, signals: { v: 3 }, tokens: { logprob: { f32: 'AAAAAAAAAAAAAAAA' } } }),
      anEvent.turn('a', 1, { signals: { v: 100 } }),
      anEvent.end('a', { outcomeReward: 4, success: true }),
      anEvent.annotation('a', { signals: { v: 9 }, turns: [{ turn: 0, signals: { v: 1 } }] }),
    ]);
    const summary = (path: string) => set.signals.change(path.split(' ')[2], path.split(' ', 2).join(' '));
    expect(summary('recorded turn v')).toMatchObject({ rows: 2, numbers: 2, minimum: -1, maximum: 3, sum: 2 });
    expect(summary('recorded turn note')).toMatchObject({ rows: 1, numbers: 0, minimum: null });
    expect(summary('recorded turn gone')).toBeUndefined();
    expect(summary('recorded turn reward')).toMatchObject({ rows: 1, sum: 2 });
    expect(summary('recorded token logprob')).toMatchObject({ rows: 5, numbers: 0 });
    expect(summary('recorded trajectory outcomeReward')).toMatchObject({ rows: 1, sum: 4 });
    expect(summary('recorded trajectory success')).toMatchObject({ rows: 1, sum: 1 });
    expect(summary('annotated trajectory v')).toMatchObject({ rows: 1, sum: 9 });
    expect(summary('annotated turn v')).toMatchObject({ rows: 1, sum: 1 });
  });

  it('makes a point of each metric and a row of each annotated thing', () => {
    const { set } = fold([
      anEvent.step(3, { loss: 0.5, kl: null }),
      anEvent.annotation('a', { turns: [{ turn: 4, signals: { x: 1 }, rationale: 'so' }] }),
      anEvent.annotation('a', { status: 'failed', failureReason: 'no \0 answer', attempt: 2 }),
    ]);
    expect(set.metrics).toMatchObject([
      { name: 'loss', trainingStep: 3, position: 0, value: 0.5 },
      { name: 'kl', value: null },
    ]);
    expect(set.steps.change(3)).toMatchObject({ recordedPosition: 0, trajectoryCount: 0 });
    expect(set.annotations).toMatchObject([
      { position: 1, item: 1, turn: 4, signals: { x: 1 }, rationale: 'so', attempt: 0, status: 'ok' },
      { position: 2, item: 0, turn: null, status: 'failed', failureReason: 'no \uFFFD answer', attempt: 2 },
    ]);
  });

  it('takes the time of receipt where the sender names no date', () => {
    const { set } = fold([{ ...anEvent.turn('a', 0), at: '2026-13-77T00:00:00Z' }]);
    expect(set.trajectories.change('a')?.startedAt.toISOString()).toBe('2026-02-03T04:05:06.789Z');
  });

  it('follows the run to its end', () => {
    expect(fold([anEvent.ended()]).set.run.state).toBe('completed');
    const { run } = fold([anEvent.ended({ state: 'failed', reason: 'out of memory' })]).set;
    expect(run).toMatchObject({ state: 'failed', endReason: 'out of memory' });
  });
});

describe('segment cuts', () => {
  it('come at analyses, rewinds and the end of the run', () => {
    const events = [anEvent.whole('a', 1), anEvent.analysis('x'), anEvent.step(0), anEvent.rewound(0), anEvent.ended()];
    expect(fold(events).cuts).toEqual([1, 3, 4]);
  });

  it('come where enough turns of finished trajectories wait', () => {
    const events = [
      anEvent.turn('a', 0),
      anEvent.turn('a', 1),
      anEvent.turn('a', 2),
      anEvent.turn('b', 0),
      anEvent.end('b'),
      anEvent.end('a'),
      anEvent.whole('c', 2),
      anEvent.whole('d', 9),
    ];
    expect(fold(events, { turns: 3, bytes: Infinity }).cuts).toEqual([5, 7]);
    expect(fold(events, { turns: Infinity, bytes: 800 }).cuts).toEqual([5, 7]);
  });

  it('do not wait for a trajectory with holes', () => {
    const events = [
      anEvent.end('a', { turnCount: 3 }),
      anEvent.turn('a', 0),
      anEvent.turn('a', 1),
      anEvent.turn('a', 2),
    ];
    expect(fold(events, { turns: 3, bytes: Infinity }).cuts).toEqual([3]);
  });
});
