import { seededRandom } from '#lib/numeric';
import type { TrajectoryRecord } from '#lib/protocol';

const GROUP = 8;
export const TURNS = 16;
const WORDS =
  'go to the cabinet drawer shelf and open take put heat cool clean examine apple mug lamp pan with on'.split(' ');

/**
 * Trajectories as a text world gives them: groups of 8, 16 turns each, states that come again, two tokens per turn, and
 * what every estimator needs. The same call gives the same.
 */
export function madeRecords(trajectories: number, trainingSteps = 1): TrajectoryRecord[] {
  const random = seededRandom('made records');
  const sentence = (seed: number, words: number) =>
    Array.from({ length: words }, (_, i) => WORDS[(seed * 7 + i * (seed % 5)) % WORDS.length]).join(' ');
  return Array.from({ length: trajectories }, (_, i) => {
    const won = random.next() < 0.4 ? 1 : 0;
    return {
      id: `trajectory-${i}`,
      group: `task-${Math.floor(i / GROUP)}`,
      trainingStep: Math.floor((i * trainingSteps) / trajectories),
      outcomeReward: won,
      success: won === 1,
      turns: Array.from({ length: TURNS }, (_turn, turn) => ({
        state: sentence(random.integer(12) + turn, 30),
        action: sentence(random.integer(6), 4),
        reward: turn === TURNS - 1 ? won : 0,
        signals: {
          valueEstimate: random.next(),
          exactAdvantage: random.normal(),
          entropy: random.next(),
        },
        tokens: {
          logprob: [-random.next(), -random.next()],
          reward: [0, turn === TURNS - 1 ? won : 0],
          value: [random.next(), random.next()],
        },
      })),
    };
  });
}

export function ndjsonOf(records: readonly object[]): Buffer {
  return Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}
