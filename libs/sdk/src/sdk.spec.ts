import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakePlatform, type FakePlatform } from '../../../test/support/fake-platform.js';
import * as recredit from './index.js';

let platform: FakePlatform;
let spool: string;

beforeEach(async () => {
  platform = await fakePlatform();
  spool = mkdtempSync(join(tmpdir(), 'recredit-sdk-'));
});

afterEach(async () => {
  await platform.close();
  rmSync(spool, { recursive: true, force: true });
});

const backoff = { baseMs: 1, capMs: 10 };
const start = (options: Partial<recredit.RunOptions> = {}) =>
  recredit.startRun({
    project: 'p',
    name: 'r',
    url: platform.url,
    apiKey: 'rk_a_b',
    spool,
    backoff,
    sealAfterMs: 5,
    ...options,
  });

function logRollout(run: recredit.Run, id: string, turns: number): void {
  const trajectory = run.trajectory({ id, group: 'g', trainingStep: 0 });
  for (let i = 0; i < turns; i++) trajectory.turn({ state: `s${i}`, action: 'go', reward: 0 });
  trajectory.end({ outcomeReward: 1, success: true });
}

const turnsOf = (id: string) =>
  platform
    .events('r')
    .flatMap((event) => (event.type === 'turn.recorded' && event.trajectory === id ? [event.turn] : []));
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

describe('a run', () => {
  it('sends what the trainer recorded, in order, and leaves nothing behind', async () => {
    const run = await start({ config: { lr: 1e-6 } });
    const trajectory = run.trajectory({ group: 'task-42', trainingStep: 12 });
    trajectory.turn({
      state: 'a room',
      action: 'look',
      reward: 0,
      signals: { valueEstimate: 0.3 },
      tokens: { logprob: Float32Array.of(-0.5, NaN), entropy: [0.1, NaN] },
      mood: 'curious',
    });
    trajectory.end({ outcomeReward: 1, success: true });
    run.trainingStep(12, { loss: 0.1, kl: NaN });
    run.annotate({ trajectory: trajectory.id, annotator: 'judge', turns: [{ turn: 0, signals: { judgeLabel: 1 } }] });
    run.checkpoint({ trainingStep: 12, sketch: Float32Array.of(1, 2) });
    run.record({
      id: 'whole',
      group: 'g',
      trainingStep: 12,
      outcomeReward: 0,
      turns: [{ state: 's', tokens: { logprob: Float32Array.of(-1) } }],
    });
    run.rewind(10);
    const report = await run.end();

    expect(report).toMatchObject({
      run: 'r',
      accepted: 8,
      sent: 8,
      unsent: 0,
      refused: 0,
      dropped: 0,
      position: 8,
      problem: null,
    });
    expect(platform.events('r')).toMatchObject([
      {
        type: 'turn.recorded',
        trajectory: trajectory.id,
        group: 'task-42',
        trainingStep: 12,
        turn: 0,
        tokens: { logprob: { f32: 'AAAAvwAAwH8=' }, entropy: [0.1, null] },
        mood: 'curious',
      },
      { type: 'trajectory.ended', trajectory: trajectory.id, outcomeReward: 1, turnCount: 1 },
      { type: 'trainingStep.recorded', metrics: { loss: 0.1, kl: null } },
      { type: 'annotation.recorded', annotator: 'judge' },
      { type: 'checkpoint.recorded', sketch: { f32: 'AACAPwAAAEA=' } },
      { type: 'trajectory.recorded', id: 'whole', turns: [{ tokens: { logprob: { f32: 'AACAvw==' } } }] },
      { type: 'run.rewound', toTrainingStep: 10 },
      { type: 'run.ended', state: 'completed' },
    ]);
    expect(platform.requests[0].headers.authorization).toBe('Bearer rk_a_b');
    expect(readdirSync(spool)).toEqual([]);
  });

  it('shows a turn long before the run ends', async () => {
    const run = await start();
    run.trajectory({ id: 'live', group: 'g', trainingStep: 0 }).turn({ state: 's' });
    await expect.poll(() => turnsOf('live')).toEqual([0]);
    await run.end();
  });

  it.each([
    ['an infinite reward', { reward: Infinity }, '/reward: expected a finite number, found Infinity'],
    [
      'an infinite token',
      { tokens: { logprob: Float32Array.of(0, -Infinity) } },
      '/tokens/logprob/1: expected a finite',
    ],
    ['columns of unequal length', { tokens: { a: [1, 2], b: [1] } }, '/tokens/b: expected 2 entries, as a has'],
    ['a state that is no text', { state: 7 as unknown as string }, '/state: expected'],
    ['a big integer', { signals: { n: 1n } }, '/signals/n: expected a number, found 1n'],
    ['a map', { signals: { m: new Map() } }, '/signals/m: expected an object or an array, found a Map'],
    ['a cycle', { signals: cyclic() }, 'a cycle'],
    [
      'a getter that throws',
      Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => {
          throw new Error('boo');
        },
      }),
      'boo',
    ],
  ])('refuses %s and says why, without throwing', async (_, turn, why) => {
    const run = await start({ offline: true });
    const receipt = run.trajectory({ group: 'g', trainingStep: 0 }).turn(turn);
    expect(receipt).toMatchObject({ accepted: false, reason: 'invalid', detail: expect.stringContaining(why) });
    expect(await run.end()).toMatchObject({
      accepted: 1,
      unsent: 1,
      dropped: 1,
      reasons: [expect.stringContaining(why)],
    });
  });

  it('refuses what comes after an end', async () => {
    const run = await start();
    const trajectory = run.trajectory({ id: 't', group: 'g', trainingStep: 0 });
    trajectory.end();
    expect(trajectory.turn({})).toMatchObject({ accepted: false, reason: 'ended' });
    expect(trajectory.end()).toMatchObject({ accepted: false, reason: 'ended' });
    const ending = run.end();
    expect(run.trainingStep(1, {})).toMatchObject({ accepted: false, reason: 'ended' });
    expect((await ending).sent).toBe(2);
    expect(await run.end()).toBe(await ending);
  });

  it('keeps the gap of a refused turn visible, and its batch acceptable', async () => {
    const run = await start();
    const trajectory = run.trajectory({ id: 't', group: 'g', trainingStep: 0 });
    for (const reward of [0, Infinity, 0, 0]) trajectory.turn({ reward });
    trajectory.end();
    expect(await run.end()).toMatchObject({ sent: 5, refused: 0, dropped: 1 });
    expect(turnsOf('t')).toEqual([0, 2, 3]);
  });

  it('never waits for a server that is not there, and delivers at the next start, older events first', async () => {
    const { url } = platform;
    await platform.close();
    const dark = await start();
    logRollout(dark, 'first', 3);
    const report = await dark.close({ deadlineMs: 50 });
    expect(report).toMatchObject({ run: null, sent: 0, unsent: 4, problem: { code: 'no.answer' } });
    expect(report.problem!.detail).toContain('ECONNREFUSED');

    platform = await fakePlatform(Number(new URL(url).port));
    const bright = await start();
    logRollout(bright, 'second', 2);
    expect(await bright.end()).toMatchObject({ sent: 4, unsent: 0 });
    expect(turnsOf('first')).toEqual([0, 1, 2]);
    expect(platform.events('r').map((event) => 'trajectory' in event && event.trajectory)).toEqual([
      ...Array<string>(4).fill('first'),
      ...Array<string>(3).fill('second'),
      false,
    ]);
    expect(readdirSync(spool)).toEqual([]);
  });

  it('does not write its key anywhere', async () => {
    const run = await start({ apiKey: 'rk_secret_secret', url: 'http://127.0.0.1:1' });
    const { spool: dir } = await run.end({ deadlineMs: 1 });
    for (const name of readdirSync(dir)) expect(readFileSync(join(dir, name), 'utf8')).not.toContain('secret');
  });

  it('refuses options that cannot be meant at once', async () => {
    await expect(start({ name: '' })).rejects.toThrow('name: expected a name');
    await expect(start({ url: 'ftp://x' })).rejects.toThrow('url: expected http(s)://host:port, found ftp://x');
  });
});

describe('on a bad day', () => {
  it.each(['dropped', 'lost', 'torn', 'busy', 'down'] as const)(
    'an answer that is %s changes nothing',
    async (fault) => {
      platform.faults.push(fault, null, fault, fault);
      const run = await start({ sealAt: { events: 2, bytes: 1e6 } });
      logRollout(run, 't', 9);
      expect(await run.end()).toMatchObject({ accepted: 11, sent: 11, unsent: 0, problem: null });
      expect(turnsOf('t')).toEqual(upTo(9));
      expect(platform.events('r')).toHaveLength(11);
    },
  );

  it('sets a refused batch aside with the answer and goes on with the same sequence', async () => {
    platform.faults.push(null, 'unwanted', null, 'lost');
    const run = await start({ sealAt: { events: 2, bytes: 1e6 } });
    logRollout(run, 't', 9);
    const report = await run.end();
    expect(report).toMatchObject({ accepted: 11, sent: 9, refused: 2, unsent: 0, problem: { code: 'events.invalid' } });
    expect(turnsOf('t')).toEqual([0, 1, 4, 5, 6, 7, 8]);
    const left = readdirSync(report.spool);
    expect(left.filter((name) => !name.startsWith('lock') && !name.endsWith('.sent')).toSorted()).toEqual([
      '00000001.problem.json',
      '00000001.refused',
      'producer.json',
    ]);
    expect(await recredit.sync(spool)).toMatchObject({ sent: 0, unsent: 0, refused: 2 });
  });

  it('stops at once and says so where only a person can help', async () => {
    platform.faults.push('forbidden', 'forbidden');
    const run = await start();
    logRollout(run, 't', 1);
    expect(await run.end()).toMatchObject({ sent: 0, unsent: 3, problem: { status: 403, code: 'role.missing' } });
    platform.faults.length = 0;
    expect(await recredit.sync(spool, { apiKey: 'rk_better' })).toMatchObject({ sent: 3, unsent: 0 });
  });

  it('sends again what a server lost that came back from a backup', async () => {
    const run = await start({ sealAt: { events: 2, bytes: 1e6 } });
    logRollout(run, 't', 9);
    await run.flush();
    platform.forget('r', 2);
    run.trainingStep(0, {});
    expect(await run.end()).toMatchObject({ accepted: 12, sent: 12, unsent: 0 });
    expect(turnsOf('t')).toEqual(upTo(9));
    expect(platform.events('r')).toHaveLength(12);
  });

  it('reports what it cannot heal: the server lost a batch of which no copy is left', async () => {
    const run = await start({ sealAt: { events: 2, bytes: 1e6 }, maxSpoolBytes: 700 });
    for (let step = 0; step < 8; step++) {
      run.trainingStep(step, {});
      await run.flush();
    }
    platform.forget('r', 1);
    run.trainingStep(8, {});
    expect(await run.end()).toMatchObject({ sent: 8, unsent: 2, problem: { code: 'sequence.unexpected' } });
  });

  it('stops where a newer epoch of its producer writes, and keeps its events', async () => {
    const run = await start();
    run.trainingStep(0, {});
    const { producer } = await run.flush();
    const event = { type: 'trainingStep.recorded', at: '2026-01-01T00:00:00Z', trainingStep: 1, metrics: {} };
    await fetch(`${platform.url}/v1/runs/r/events`, {
      method: 'POST',
      headers: {
        'recredit-producer': producer,
        'recredit-epoch': '1',
        'recredit-sequence': '1',
        'content-encoding': 'gzip',
      },
      body: gzipSync(JSON.stringify(event)),
    });
    run.trainingStep(1, {});
    expect(await run.close()).toMatchObject({ sent: 1, unsent: 1, problem: { code: 'producer.fenced' } });
    expect(await recredit.sync(spool, { url: platform.url })).toMatchObject({
      unsent: 1,
      producers: [{ problem: { code: 'batch.conflicting' } }],
    });
  });
});

describe('the spool', () => {
  it('is bounded: acknowledged batches go first, then the trainer is told', async () => {
    const run = await start({ maxSpoolBytes: 2_000, sealAt: { events: 2, bytes: 1e6 } });
    for (let step = 0; step < 100; step++) {
      expect(run.trainingStep(step, {})).toEqual({ accepted: true });
      if (step % 4 === 3) await run.flush();
    }
    await platform.close();
    const receipts = upTo(100).map((step) => run.trainingStep(step, {}));
    expect(receipts[0]).toEqual({ accepted: true });
    expect(receipts.at(-1)).toMatchObject({ accepted: false, reason: 'back-pressure' });
    const report = await run.end({ deadlineMs: 1 });
    expect(report).toMatchObject({ sent: 100, dropped: 0 });
    expect(report.unsent).toBeGreaterThanOrEqual(receipts.filter((receipt) => receipt.accepted).length);
    expect(report.unsent + report.backPressure).toBe(101);
  });

  it('tells of a folder that is gone instead of throwing', async () => {
    const run = await start({ offline: true });
    rmSync(spool, { recursive: true });
    expect(run.trainingStep(0, {})).toMatchObject({ accepted: false, reason: 'spool-failed' });
  });

  it('lets nobody else at the folder of a living process', async () => {
    const run = await start({ offline: true });
    run.trainingStep(0, {});
    expect(await recredit.sync(spool, { url: platform.url })).toMatchObject({ sent: 0, producers: [{ held: true }] });
    await run.end();
    expect(await recredit.sync(spool, { url: platform.url })).toMatchObject({ sent: 2, producers: [{ held: false }] });
    expect(readdirSync(spool)).toEqual([]);
  });
});

describe('without a server', () => {
  it('records for a later sync, creation of the run included', async () => {
    const run = await recredit.offline(spool).startRun({ project: 'p', name: 'r' });
    logRollout(run, 't', 2);
    expect(await run.end()).toMatchObject({ run: null, unsent: 4 });
    const report = await recredit.sync(spool, { url: platform.url });
    expect(report).toMatchObject({
      sent: 4,
      unsent: 0,
      producers: [{ run: 'r', project: 'p', name: 'r', duplicates: 0 }],
    });
    expect(turnsOf('t')).toEqual([0, 1]);
    expect(await recredit.sync(spool, { url: platform.url })).toEqual({
      producers: [],
      sent: 0,
      unsent: 0,
      refused: 0,
    });
  });

  it('says what is still unsent', async () => {
    const run = await recredit.offline(spool).startRun({ project: 'p', name: 'r' });
    const report = await run.end();
    expect(recredit.reportText(report)).toBe(
      `r: 0 events are in the log. 1 are still unsent; \`recredit sync ${report.spool}\` delivers them.`,
    );
  });
});

describe('a replay', () => {
  const replay = { source: 'file', at: '1970-01-01T00:00:00Z' };
  const send = async (steps: number, sealEvents = 4) => {
    const run = await start({ replay, sealAt: { events: sealEvents, bytes: 1e6 } });
    for (let step = 0; step < steps; step++) run.trainingStep(step, {});
    return run.close();
  };

  it('adds nothing the second time, and only the rest of a longer version', async () => {
    expect(await send(10)).toMatchObject({ sent: 10, duplicates: 0 });
    expect(await send(10)).toMatchObject({ sent: 10, duplicates: 10 });
    expect(await send(15)).toMatchObject({ sent: 15, duplicates: 10 });
    expect(await send(15)).toMatchObject({ sent: 15, duplicates: 15 });
    expect(await send(30)).toMatchObject({ sent: 30, duplicates: 15 });
    expect(platform.events('r').map((event) => 'trainingStep' in event && event.trainingStep)).toEqual(upTo(30));
    expect(Object.values(platform.cuts('r'))).toEqual([[4, 4, 2, 2, 3, 1, 4, 4, 4, 2]]);
    expect(readdirSync(spool)).toEqual([]);
  });

  it('refuses another content under the same source', async () => {
    await send(10);
    const run = await start({ replay, sealAt: { events: 4, bytes: 1e6 } });
    for (let step = 0; step < 10; step++) run.trainingStep(step, { loss: 1 });
    expect(await run.close()).toMatchObject({ sent: 0, unsent: 10, problem: { code: 'batch.conflicting' } });
  });
});

function cyclic(): Record<string, unknown> {
  const self: Record<string, unknown> = {};
  self.self = self;
  return self;
}
