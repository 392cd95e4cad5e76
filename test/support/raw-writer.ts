import type { Random } from '#lib/numeric';
import { setTimeout as sleep } from 'node:timers/promises';
import { noteAcknowledged } from './ledger.js';

const PATIENCE_MS = 180_000;

export interface RawBatch {
  readonly producer: string;
  readonly sequence: number;
  readonly ndjson: string;
}

export interface RawTarget {
  /** of the APIs: each request goes to any of them */
  readonly urls: readonly string[];
  readonly key: string;
  readonly runId: string;
  readonly ledger: string;
}

/** Two trajectories of four turns, whole. */
export function rawBatch(producer: string, sequence: number, random: Random): RawBatch {
  const at = new Date().toISOString();
  const events = [0, 1].flatMap((nth) => {
    const trajectory = `${producer}-${sequence}-${nth}`;
    const address = { group: `${producer}-task`, trainingStep: Math.floor(sequence / 8) };
    const turns = [0, 1, 2, 3].map((turn) => ({
      type: 'turn.recorded',
      at,
      trajectory,
      ...address,
      turn,
      state: `room ${random.integer(6)}`,
      action: `go ${random.integer(4)}`,
      reward: turn === 3 ? nth : 0,
    }));
    return [...turns, { type: 'trajectory.ended', at, trajectory, ...address, outcomeReward: nth, turnCount: 4 }];
  });
  return { producer, sequence, ndjson: events.map((event) => `${JSON.stringify(event)}\n`).join('') };
}

/** Sends a batch until it is acknowledged, and notes that. What comes too early (409) or at a bad moment comes again. */
export async function deliver(target: RawTarget, batch: RawBatch, random: Random): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(5 + random.integer(40))) {
    const answer = await sendOnce(target, batch, random);
    if (answer?.status === 200) {
      return noteAcknowledged(target.ledger, target.runId, answer.body.firstPosition!, batch.ndjson);
    }
    const { status, body } = answer ?? { status: 0, body: {} };
    const mayPass = status === 0 || status === 429 || status >= 500 || body.code === 'sequence.unexpected';
    if (!mayPass) throw new Error(`batch ${batch.sequence} of ${batch.producer}: ${status} ${JSON.stringify(body)}`);
  }
  throw new Error(`batch ${batch.sequence} of ${batch.producer} was not acknowledged in ${PATIENCE_MS / 1000} s`);
}

async function sendOnce({ urls, key, runId }: RawTarget, { producer, sequence, ndjson }: RawBatch, random: Random) {
  try {
    const response = await fetch(`${urls[random.integer(urls.length)]}/v1/runs/${runId}/events`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/x-ndjson',
        'recredit-producer': producer,
        'recredit-epoch': '0',
        'recredit-sequence': String(sequence),
      },
      body: ndjson,
      signal: AbortSignal.timeout(30_000),
    });
    const body = (await response.json()) as { readonly firstPosition?: number; readonly code?: string };
    return { status: response.status, body };
  } catch {
    return null; // no answer, or half of one
  }
}
