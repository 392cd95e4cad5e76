import type { TrajectoryBatch } from '#lib/dataset';
import { scratchInts } from '#lib/numeric';
import { samplesOf, type Samples } from './group-samples.js';

export interface ExploreOptions {
  /** S of Pass@K-S and Reward@K-S */
  readonly selectCounts: readonly number[];
  /** a trajectory is selected when its score is greater */
  readonly rewardThreshold: number;
  /** n*: samples wanted per query */
  readonly targetPerQuery: number;
  /** of equal answers only the first is selected */
  readonly deduplicate: boolean;
}

/** What was found and what would be selected of each group. [groups] each */
interface Found {
  readonly correct: Int32Array;
  readonly uniqueCorrect: Int32Array;
  /** correct ones of largest score before the first that is not; of equal scores the earlier first */
  readonly rightFirst: Int32Array;
  readonly selected: Int32Array;
  readonly selectedCorrect: Int32Array;
}

/**
 * B-STaR's monitors, per group of K trajectories; r the score by which one would select (rewardScore, else the outcome).
 *
 *     Pass@K-S      1 where at least S different correct answers were found
 *     Reward@K-S    1 where K ≥ S and the S of largest r are all correct; ties: the earlier first
 *     diversity     different correct answers / correct ones; null: none is correct
 *     balanceScore  min(n'/n*, 1) · n'/n of the selected r > rewardThreshold, 0 for none: n are selected, n' of them are
 *                   correct and different
 *
 * Answers are told apart by answerKey, else by the sequence of actions; uniqueAnswerShare by finalAnswer.
 *
 * Source: arXiv:2412.17256, equations 1-3; hkust-nlp/B-STaR determine_hyper.py (whose n* is always 8).
 */
export function exploreExploit(trajectories: TrajectoryBatch, options: ExploreOptions) {
  const samples = samplesOf(trajectories);
  const { names, offsets, differentAnswers } = samples;
  const found = foundIn(samples, options);
  const { correct, uniqueCorrect, rightFirst, selected, selectedCorrect } = found;
  const perGroup = names.map((group, g) => ({
    group,
    samples: offsets[g + 1] - offsets[g],
    correct: correct[g],
    uniqueCorrect: uniqueCorrect[g],
    passKS: options.selectCounts.map((s) => Number(uniqueCorrect[g] >= s)),
    rewardKS: options.selectCounts.map((s) => Number(rightFirst[g] >= s)),
    diversity: correct[g] > 0 ? uniqueCorrect[g] / correct[g] : null,
    selected: selected[g],
    selectedCorrect: selectedCorrect[g],
    balanceScore: balanceOf(selected[g], selectedCorrect[g], options),
    answers: differentAnswers[g],
  }));
  return { perGroup, ...meansOf(samples, found, options) };
}

const isTakenIn = scratchInts();
const isFoundIn = scratchInts();

export function foundIn({ offsets, scores, isCorrect, keys, differentKeys }: Samples, options: ExploreOptions): Found {
  const { rewardThreshold, deduplicate } = options;
  const groups = offsets.length - 1;
  const correct = new Int32Array(groups);
  const uniqueCorrect = new Int32Array(groups);
  const rightFirst = new Int32Array(groups);
  const selected = new Int32Array(groups);
  const selectedCorrect = new Int32Array(groups);
  // [keys] whether the answer was found, and whether it was selected
  const isFound = isFoundIn(differentKeys).fill(0);
  const isTaken = isTakenIn(differentKeys).fill(0);
  for (let g = 0; g < groups; g++) {
    const from = offsets[g];
    const to = offsets[g + 1];
    let wrong = -1;
    for (let i = from; i < to; i++) {
      const key = keys[i];
      const isRight = isCorrect[i] === 1;
      if (isRight) {
        correct[g]++;
        if (isFound[key] === 0) uniqueCorrect[g]++;
        isFound[key] = 1;
      } else if (wrong < 0 || scores[i] > scores[wrong]) wrong = i;
      if (!(scores[i] > rewardThreshold)) continue;
      const isNew = isTaken[key] === 0;
      if (isNew || !deduplicate) selected[g]++;
      if (isNew && isRight) selectedCorrect[g]++;
      if (deduplicate || isRight) isTaken[key] = 1;
    }
    for (let i = from; i < to; i++) {
      const isBefore = wrong < 0 || scores[i] > scores[wrong] || (scores[i] === scores[wrong] && i < wrong);
      if (isCorrect[i] === 1 && isBefore) rightFirst[g]++;
    }
  }
  return { correct, uniqueCorrect, rightFirst, selected, selectedCorrect };
}

/** Means over the groups; null: there is none. */
export function meansOf({ offsets, differentAnswers }: Samples, found: Found, options: ExploreOptions) {
  const { correct, uniqueCorrect, rightFirst, selected, selectedCorrect } = found;
  const groups = correct.length;
  let solved = 0;
  let diversity = 0;
  let answers = 0;
  let balance = 0;
  for (let g = 0; g < groups; g++) {
    if (correct[g] > 0) {
      solved++;
      diversity += uniqueCorrect[g] / correct[g];
    }
    answers += differentAnswers[g] / (offsets[g + 1] - offsets[g]);
    balance += balanceOf(selected[g], selectedCorrect[g], options);
  }
  return {
    passKS: options.selectCounts.map((s) => shareOf(uniqueCorrect, s)),
    rewardKS: options.selectCounts.map((s) => shareOf(rightFirst, s)),
    bestOfK: shareOf(rightFirst, 1),
    diversity: solved > 0 ? diversity / solved : null,
    uniqueAnswerShare: groups > 0 ? answers / groups : null,
    balanceScore: groups > 0 ? balance / groups : null,
  };
}

/** How many of the counts are `least` or more; null: there is none. */
function shareOf(counts: Int32Array, least: number): number | null {
  let enough = 0;
  for (let g = 0; g < counts.length; g++) if (counts[g] >= least) enough++;
  return counts.length > 0 ? enough / counts.length : null;
}

/** The mean balance score at other thresholds of the score. */
export function balanceSweep(trajectories: TrajectoryBatch, options: ExploreOptions, thresholds: readonly number[]) {
  const rising = Float64Array.from(thresholds).sort();
  const samples = samplesOf(trajectories);
  const balances = sweptBalances(samples, options, rising);
  return thresholds.map((rewardThreshold) => ({
    rewardThreshold,
    balanceScore: samples.names.length > 0 ? balances[rising.indexOf(rewardThreshold)] : null,
  }));
}

const takenIn = scratchInts();

/**
 * Each sample is looked at once: it is selected at all thresholds below its score, and stands there for its answer where
 * no earlier one does.
 *
 * @param rising [thresholds] ascending
 * @returns [thresholds] means over the groups
 */
export function sweptBalances(samples: Samples, options: ExploreOptions, rising: Float64Array): Float64Array {
  const { offsets, scores, isCorrect, keys } = samples;
  const { deduplicate } = options;
  const groups = samples.names.length;
  // [thresholds + 1] what is selected at a threshold more than at the one before, and of that how many correct answers
  const selectedMore = new Int32Array(rising.length + 1);
  const usefulMore = new Int32Array(rising.length + 1);
  // [keys] at how many of the thresholds an earlier sample stands for the answer
  const taken = takenIn(samples.differentKeys).fill(0);
  const balances = new Float64Array(rising.length);
  for (let g = 0; g < groups; g++) {
    for (let i = offsets[g]; i < offsets[g + 1]; i++) {
      const below = howManyBelow(scores[i], rising);
      const from = taken[keys[i]];
      const isNew = below > from;
      if (isNew || !deduplicate) {
        selectedMore[deduplicate ? from : 0]++;
        selectedMore[below]--;
      }
      if (isNew && isCorrect[i] === 1) {
        usefulMore[from]++;
        usefulMore[below]--;
      }
      if (isNew && (deduplicate || isCorrect[i] === 1)) taken[keys[i]] = below;
    }
    let n = 0;
    let useful = 0;
    for (let t = 0; t < rising.length; t++) {
      n += selectedMore[t];
      useful += usefulMore[t];
      balances[t] += balanceOf(n, useful, options);
      selectedMore[t] = 0;
      usefulMore[t] = 0;
    }
    selectedMore[rising.length] = 0;
    usefulMore[rising.length] = 0;
  }
  for (let t = 0; t < rising.length; t++) balances[t] /= groups;
  return balances;
}

/** Where the thresholds are even, as they are in a sweep, the guess is right. */
function howManyBelow(score: number, rising: Float64Array): number {
  const last = rising.length - 1;
  const guess = Math.ceil(((score - rising[0]) / (rising[last] - rising[0])) * last);
  let below = guess > 0 ? Math.min(guess, last + 1) : 0;
  while (below > 0 && score <= rising[below - 1]) below--;
  while (below <= last && score > rising[below]) below++;
  return below;
}

/** @param n that are selected, `useful` of them correct and different */
function balanceOf(n: number, useful: number, { targetPerQuery }: Pick<ExploreOptions, 'targetPerQuery'>): number {
  return n === 0 ? 0 : (Math.min(useful / targetPerQuery, 1) * useful) / n;
}
