import type { TrajectoryRecords } from '#lib/credit';
import { seededRandom } from '#lib/numeric';

const ROOMS = ['kitchen', 'cellar', 'garden', 'attic', 'hall'];
const IDLE = ['look around', 'wait a moment', 'walk to the window'];

/**
 * Rollouts of a world in which a turn that takes a lamp is worth a half, one that drops it takes a half away, and nothing
 * else matters: the outcome is their sum. `worth` of a turn says so.
 */
export function lampRollouts({ groups = 12, perGroup = 6, seed = 'lamps' } = {}) {
  const random = seededRandom(seed);
  const records = Array.from({ length: groups * perGroup }, (_, i) => {
    const turns = Array.from({ length: 2 + random.integer(4) }, () => {
      const room = ROOMS[random.integer(ROOMS.length)];
      const kind = random.integer(3);
      const what = ['take the lamp', 'drop the lamp', IDLE[random.integer(IDLE.length)]][kind];
      return {
        state: `you are in the ${room}`,
        action: `${what} in the ${room}`,
        signals: { worth: [0.5, -0.5, 0][kind] },
      };
    });
    const outcomeReward = turns.reduce((sum, { signals }) => sum + signals.worth, 0);
    return {
      id: `t${i}`,
      group: `task ${Math.floor(i / perGroup)}`,
      trainingStep: 0,
      outcomeReward,
      success: outcomeReward > 0,
      turns,
    };
  });
  return records satisfies TrajectoryRecords;
}
