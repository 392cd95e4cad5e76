import type { SignalColumn, SignalPath, TrajectoryBatch } from '#lib/dataset';
import { seededRandom } from '#lib/numeric';
import { madeTrajectories } from './made-columns.js';

/** Some begin as the words that the catalogue looks for, one in a thousand is one. */
const WORDS = ['the', ' so', ' was', ' it', 'is', ' have', ' to', ' go', '.', ' left', ' all', ' a'];

/** Metrics of a training step, one for each diagnostic that reads one. */
export const MADE_METRICS = {
  entropy: 0.4,
  score: 0.5,
  gradNorm: 1,
  smallBatch: 8,
  largeBatch: 64,
  smallSquaredNorm: 2,
  largeSquaredNorm: 1,
};

/**
 * Groups of 8, 10 turns each, and what the catalogue reads of them. The same call gives the same.
 *
 * @param turns a multiple of 10
 * @param tokens of each turn, with what the catalogue reads of them; 0: none was logged
 */
export function madeStep(turns: number, tokens: number): TrajectoryBatch {
  const random = seededRandom('a training step');
  const bare = madeTrajectories(turns);
  const count = bare.ids.length;
  const column = (length: number, draw: () => number): SignalColumn => ({
    kind: 'number',
    values: Float64Array.from({ length }, draw),
  });
  const ofTokens = (draw: () => number): SignalColumn => ({
    kind: 'number',
    values: Float32Array.from({ length: turns * tokens }, draw),
  });
  const flag = (share: number) => () => Number(random.next() < share);
  // the trajectories of a group begin with the same prompt
  const stateKey = bare.stateKey.slice();
  bare.groupOf.forEach((group, i) => (stateKey[bare.turnOffsets[i]] = group));
  const columns = new Map<SignalPath, SignalColumn>([
    ['trajectory.outcomeReward', column(count, flag(0.4))],
    ['trajectory.rewardScore', column(count, () => random.normal())],
    ['trajectory.policyVersion', column(count, () => -random.integer(3))],
    ['turn.reward', column(turns, flag(0.1))],
    ['turn.isActionValid', column(turns, flag(0.95))],
    ['turn.toolError', column(turns, flag(0.05))],
    ['turn.containsAnswer', column(turns, flag(0.1))],
    ['turn.successEstimate', column(turns, () => random.next())],
    ['turn.processReward', column(turns, () => random.next())],
    ['turn.humanLabel', column(turns, () => random.integer(3) - 1)],
    ['turn.judgeLabel', column(turns, () => random.integer(3) - 1)],
    ['turn.tokenCount', column(turns, () => tokens || 300)],
  ]);
  if (tokens > 0) {
    columns.set(
      'token.logprob',
      ofTokens(() => Math.log(1 - random.next())),
    );
    columns.set(
      'token.rolloutLogprob',
      ofTokens(() => Math.log(1 - random.next())),
    );
    columns.set(
      'token.loggedAdvantage',
      ofTokens(() => random.normal()),
    );
    columns.set(
      'token.entropy',
      ofTokens(() => random.next()),
    );
    columns.set('token.mask', ofTokens(flag(0.9)));
    const word = () => (random.next() < 0.001 ? ' Wait' : WORDS[random.integer(WORDS.length)]);
    columns.set('token.text', { kind: 'text', values: Array.from({ length: turns * tokens }, word) });
  }
  return { ...bare, stateKey, tokenOffsets: Int32Array.from({ length: turns + 1 }, (_, t) => t * tokens), columns };
}
