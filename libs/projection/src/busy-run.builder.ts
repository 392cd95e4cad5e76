import { EventLog, sealBatch } from '#lib/event-log';
import { seededRandom, type Random } from '#lib/numeric';
import type { RunEvent } from '#lib/protocol';
import type { Pool } from '#lib/storage';
import { anEvent } from './events.builder.js';

/** Appends events as one batch of a producer. */
export async function appendBatch(
  log: EventLog,
  runId: string,
  producerId: string,
  sequence: number,
  events: readonly RunEvent[],
): Promise<void> {
  const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  await log.append(runId, await sealBatch({ producerId, epoch: 0, sequence, ndjson, eventCount: events.length }));
}

/** Appends events in batches of the given size, all of one producer. */
export async function appendEvents(pool: Pool, runId: string, events: readonly RunEvent[], size = 7): Promise<void> {
  const log = new EventLog(pool, { notify: false });
  const producer = `producer-${Math.random()}`;
  for (let at = 0; at < events.length; at += size) {
    await appendBatch(log, runId, producer, at / size, events.slice(at, at + size));
  }
  await log.close();
}

/**
 * A run with all the trouble there is: four producers whose batches interleave, turns that overtake each other, are
 * lost, repeated or late, ids that come twice, early annotations, texts that Postgres cannot hold, and a rewind after
 * which the same ids come again. The same seed gives the same log.
 */
export async function appendBusyRun(pool: Pool, runId: string, seed: string): Promise<void> {
  const log = new EventLog(pool, { notify: false });
  const random = seededRandom(seed);
  const sent = [0, 0, 0, 0];
  const send = async (producer: number, events: readonly RunEvent[]) => {
    await appendBatch(log, runId, `producer-${producer}`, sent[producer]++, events);
  };
  for (const [phase, steps] of [[0, 1, 2, 3], [2, 3, 4], [5]].entries()) {
    const queues = sent.map((_, producer) => steps.flatMap((step) => eventsOfStep(random, producer, step)));
    while (queues.some((queue) => queue.length > 0)) {
      const producer = random.integer(queues.length);
      const batch = queues[producer].splice(0, 1 + random.integer(25));
      if (batch.length > 0) await send(producer, batch);
    }
    await send(0, [phase === 2 ? anEvent.ended() : anEvent.rewound(1 + phase * 2), anEvent.step(steps[0], { phase })]);
  }
  await send(1, [anEvent.end('lost-1-5-0', { trainingStep: 5, group: 'group 0' }), anEvent.turn('late', 0)]);
  await log.close();
}

function eventsOfStep(random: Random, producer: number, trainingStep: number): RunEvent[] {
  const trajectories = Array.from({ length: 6 }, (_, i) => eventsOfTrajectory(random, producer, trainingStep, i));
  const events: RunEvent[] = [];
  while (trajectories.some((queue) => queue.length > 0)) {
    events.push(...trajectories[random.integer(trajectories.length)].splice(0, 1 + random.integer(4)));
  }
  const sketch = Array.from({ length: 5 }, () => random.normal());
  events.push(
    anEvent.checkpoint(trainingStep, {
      sketch,
      tensors: [{ name: 'w', size: 5 }],
      projection: { of: 'a \0 b', producer },
    }),
  );
  return [...events, anEvent.step(trainingStep, { loss: random.normal(), [`of \0 ${producer}`]: null })];
}

function eventsOfTrajectory(random: Random, producer: number, trainingStep: number, i: number): RunEvent[] {
  // two of the six ids are used by all producers
  const id = i < 2 ? `shared-${trainingStep}-${i}` : `own-${producer}-${trainingStep}-${i}`;
  const place = { group: `group ${i % 3}`, trainingStep };
  const outcome = {
    outcomeReward: random.normal(),
    ...(random.next() < 0.8 && { success: random.next() < 0.5 }),
    signals: { text: 'a \0 b \ud800', n: i },
  };
  const turns = Array.from({ length: 1 + random.integer(8) }, (_, turn) => ({
    state: `room ${random.integer(5)}`,
    action: [{ role: 'assistant', content: `go ${random.integer(3)}` }],
    reward: random.normal(),
    signals: { valueEstimate: random.normal(), 'odd \0 name': turn },
    tokens: { logprob: Array.from({ length: random.integer(4) }, () => random.normal()) },
  }));
  const annotation = anEvent.annotation(id, { signals: { score: i }, turns: [{ turn: 0, signals: { label: 1 } }] });
  if (random.next() < 0.3) return [annotation, anEvent.whole(id, 0, { ...place, ...outcome, turns })];

  const events = turns.map((turn, index) => anEvent.turn(id, index, { ...place, ...turn }));
  const trouble = random.integer(8);
  if (trouble === 0) events.splice(random.integer(events.length), 1); // lost
  if (trouble === 1) events.push(events[random.integer(events.length)]); // repeated
  if (trouble === 2) events.push(events.shift()!); // overtaken
  const end = anEvent.end(id, { ...place, ...outcome, turnCount: turns.length });
  const late = trouble === 3 ? events.splice(0, 1) : [];
  return trouble === 4 ? [...events, annotation] : [...events, end, ...late, annotation];
}
