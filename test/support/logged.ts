import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { readEvents, verifyRun } from '#lib/event-log';
import { rebuild } from '#lib/projection';
import type { RunEvent } from '#lib/protocol';
import { startRun, type Run } from '#lib/sdk';
import { expect } from 'vitest';
import { everythingOf } from '../../libs/projection/src/read-model-rows.builder.js';
import { until, type ServedPlatform } from './served-platform.js';

export const TURNS = 4;

/** A run on a platform by a trainer with a spool of its own, which goes with the platform. */
export const aRunOn = ({ url, key: apiKey, home }: ServedPlatform, name: string): Promise<Run> =>
  startRun({ project: 'default', name, url, apiKey, spool: mkdtempSync(join(home, 'spool-')), sealAfterMs: 20 });

/** Records trajectories as a trainer does, and lets the sender breathe. Eight are a group, four groups a training step. */
export async function train(run: Run, from: number, to: number, prefix = 't'): Promise<void> {
  for (let i = from; i < to; i++) {
    const trainingStep = Math.floor(i / 32);
    const trajectory = run.trajectory({
      id: `${prefix}${i}`,
      group: `${prefix}-task-${Math.floor(i / 8) % 4}`,
      trainingStep,
    });
    const won = (i * 7 + trainingStep) % 3 === 0;
    for (let turn = 0; turn < TURNS; turn++) {
      const receipt = trajectory.turn({
        state: `room ${(i + turn) % 5} of ${prefix}`,
        action: `go ${(i * turn) % 3}`,
        reward: won && turn === TURNS - 1 ? 1 : 0,
        signals: { valueEstimate: ((i * 13 + turn) % 10) / 10, exactAdvantage: (won ? 0.5 : -0.5) + turn / 10 },
      });
      expect(receipt).toEqual({ accepted: true });
    }
    trajectory.end({ outcomeReward: won ? 1 : 0, success: won });
    if (i % 32 === 31) run.trainingStep(trainingStep, { loss: 1 / (trainingStep + 1) });
    if (i % 4 === 0) await breathe();
  }
}

/** All events of a run, as the log has them. */
export async function eventsOf(platform: ServedPlatform, runId: string): Promise<RunEvent[]> {
  const pool = platform.pool();
  const events: RunEvent[] = [];
  for (;;) {
    const page = await readEvents(pool, runId, events.length);
    if (page.length === 0) return events;
    expect(page[0].position).toBe(events.length);
    events.push(...page.map(({ event }) => event));
  }
}

/** Every turn and end of these trajectories is in the log, once, in order, under an unbroken chain. */
export async function expectTrained(
  platform: ServedPlatform,
  runId: string,
  count: number,
  prefix = 't',
): Promise<void> {
  const { broken } = await verifyRun(platform.pool(), runId);
  expect(broken).toBeNull();
  const events = await eventsOf(platform, runId);
  const logged = events.flatMap((event) => {
    if (event.type === 'turn.recorded') return [`${event.trajectory}/${event.turn}`];
    return event.type === 'trajectory.ended' ? [`${event.trajectory}/end`] : [];
  });
  const ours = logged.filter((address) => new RegExp(`^${prefix}\\d`).test(address));
  const expected = Array.from({ length: count }, (_, i) =>
    [...Array(TURNS).keys(), 'end'].map((turn) => `${prefix}${i}/${turn}`),
  );
  expect(ours).toEqual(expected.flat());
}

/** The read models are level with the log, and equal, row for row and byte for byte, to what a rebuild makes of it. */
export async function expectRebuildEqual(platform: ServedPlatform, runId: string): Promise<void> {
  const pool = platform.pool();
  const store = await platform.store();
  const head = (await eventsOf(platform, runId)).length;
  await until('the run is projected', 30_000, async () => {
    const { run } = await platform.ask(`query ($id: ID!) { run(id: $id) { position } }`, { id: runId });
    return run.position === head;
  });
  const before = await everythingOf(pool, store, runId);
  expect(before.tables.trajectory?.length).toBeGreaterThan(0);
  const rebuilt = await rebuild(pool, store, runId);
  expect(rebuilt).toEqual([{ runId, events: head }]);
  expect(await everythingOf(pool, store, runId)).toEqual(before);
}
