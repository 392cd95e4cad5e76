import { jsonValues, numbers, type SignalPath, type TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { groupRows, successOf } from './groups.js';

/** The samples of the groups, one group after the other. */
export interface Samples {
  /** [groups] what takes part: a group of one sample or more */
  readonly names: readonly string[];
  /** [groups + 1] samples of group g: offsets[g] .. offsets[g + 1] - 1 */
  readonly offsets: Int32Array;
  /** [groups] */
  readonly differentAnswers: Int32Array;
  /** [samples] */
  readonly scores: Float64Array;
  /** [samples] 1 and 0 */
  readonly isCorrect: Uint8Array;
  /** [samples] by which answers are told apart: numbers from 0, each of one group alone */
  readonly keys: Int32Array;
  readonly differentKeys: number;
}

const keysOfRows = scratchInts();
const answersOfRows = scratchInts();
const lastGroupOfKey = scratchInts();
const lastGroupOfAnswer = scratchInts();
const numbersOfKeys = scratchInts();

/** What has neither success nor score takes no part. */
export function samplesOf(trajectories: TrajectoryBatch): Samples {
  const success = successOf(trajectories);
  const score = numbers(trajectories, 'trajectory.rewardScore');
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  const keyOf = keysOfRows(success.length);
  const answerOf = answersOfRows(success.length);
  const different = numberAnswers(trajectories, keyOf, answerOf);
  // by key and by answer, the last group (from 1) that had it
  const hadKey = lastGroupOfKey(different).fill(0);
  const hadAnswer = lastGroupOfAnswer(different).fill(0);
  const numberOf = numbersOfKeys(different);
  const names: string[] = [];
  const inGroups = groupRows(trajectories);
  const offsets = new Int32Array(inGroups.length + 1);
  const differentAnswers = new Int32Array(inGroups.length);
  const scores = new Float64Array(success.length);
  const isCorrect = new Uint8Array(success.length);
  const keys = new Int32Array(success.length);
  let [count, differentKeys] = [0, 0];
  for (const { name, rows } of inGroups) {
    const group = names.length + 1;
    const first = count;
    let answers = 0;
    for (const row of rows) {
      let ofRow = NaN;
      if (score !== null) ofRow = score[row];
      if (Number.isNaN(ofRow) && outcome !== null) ofRow = outcome[row];
      if (Number.isNaN(success[row]) || Number.isNaN(ofRow)) continue;
      const key = keyOf[row];
      const answer = answerOf[row];
      if (hadKey[key] !== group) {
        hadKey[key] = group;
        numberOf[key] = differentKeys++;
      }
      if (hadAnswer[answer] !== group) {
        hadAnswer[answer] = group;
        answers++;
      }
      scores[count] = ofRow;
      isCorrect[count] = success[row];
      keys[count++] = numberOf[key];
    }
    if (count === first) continue;
    differentAnswers[group - 1] = answers;
    offsets[group] = count;
    names.push(name);
  }
  return {
    names,
    offsets: offsets.subarray(0, names.length + 1),
    differentAnswers: differentAnswers.subarray(0, names.length),
    scores: scores.subarray(0, count),
    isCorrect: isCorrect.subarray(0, count),
    keys: keys.subarray(0, count),
    differentKeys,
  };
}

/**
 * A number for each different answerKey, else sequence of actions; and for each different finalAnswer, else that.
 *
 * @param keys, answers [trajectories] are written to
 * @returns above all of them
 */
function numberAnswers(trajectories: TrajectoryBatch, keys: Int32Array, answers: Int32Array): number {
  const { actionKey, turnOffsets } = trajectories;
  const key = toldIn(trajectories, 'trajectory.answerKey');
  const answer = toldIn(trajectories, 'trajectory.finalAnswer');
  if (!key && !answer) {
    numberSequences(actionKey, turnOffsets, keys);
    answers.set(keys);
    return keys.length;
  }
  const numberOf = new Map<unknown, number>();
  for (let row = 0; row < keys.length; row++) {
    const told = key?.[row] ?? actionKey.subarray(turnOffsets[row], turnOffsets[row + 1]).join(' ');
    keys[row] = numbered(numberOf, told);
    answers[row] = numbered(numberOf, answer?.[row] ?? told);
  }
  return numberOf.size;
}

function toldIn(trajectories: TrajectoryBatch, path: SignalPath): readonly unknown[] | null {
  const column = trajectories.columns.get(path);
  return column ? jsonValues(column) : null;
}

function numbered(numberOf: Map<unknown, number>, told: unknown): number {
  const known = numberOf.get(told);
  if (known !== undefined) return known;
  numberOf.set(told, numberOf.size);
  return numberOf.size - 1;
}

const slotsOfSequences = scratchInts();

/** @param first [rows] is written to: the first row with the same sequence of keys */
function numberSequences(keys: Int32Array, offsets: Int32Array, first: Int32Array): void {
  const slots = slotsOfSequences(2 ** Math.ceil(Math.log2(2 * first.length + 2))).fill(-1);
  const mask = slots.length - 1;
  for (let row = 0; row < first.length; row++) {
    let hash = 0;
    for (let k = offsets[row]; k < offsets[row + 1]; k++) hash = Math.imul(hash ^ keys[k], 0x9e3779b1) ^ (hash >>> 15);
    let slot = (hash ^ (hash >>> 16)) & mask;
    while (slots[slot] >= 0 && !isSameSequence(keys, offsets, slots[slot], row)) slot = (slot + 1) & mask;
    if (slots[slot] < 0) slots[slot] = row;
    first[row] = slots[slot];
  }
}

function isSameSequence(keys: Int32Array, offsets: Int32Array, a: number, b: number): boolean {
  const length = offsets[a + 1] - offsets[a];
  if (offsets[b + 1] - offsets[b] !== length) return false;
  for (let t = 0; t < length; t++) if (keys[offsets[a] + t] !== keys[offsets[b] + t]) return false;
  return true;
}
