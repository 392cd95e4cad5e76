import { AGGREGATES, aggregateRows, type Aggregate } from '#lib/numeric';
import { z } from 'zod';
import { defineEstimator, type Column } from '../estimator.js';
import { GROUP_PARAMS, groupAdvantage } from '../group-advantage.js';
import { groupMembers } from '../group-members.js';
import type { TextValues } from '../signal-kinds.js';
import { firstOfMost } from '../votes.js';

const PrmAggregateParams = z.strictObject({
  aggregate: z.enum(AGGREGATES).default('last').describe("which of them the credit is; 'last' is search-and-learn's"),
  softminTemperature: z.number().positive().default(0.1).describe('of softmin: lower is nearer to min'),
  emptyScore: z.number().default(-1).describe('score of a trajectory without turns'),
  ...GROUP_PARAMS,
});

/** [groups] the answer of the trajectory with the highest score, the first of several; null where nobody answered. */
function bestAnswers(answers: TextValues, members: readonly (readonly number[])[], score: Float64Array): Column {
  const values = members.map((rows) => {
    const answered = rows.filter((i) => answers[i] !== null);
    const best = answered.reduce((max, i) => Math.max(max, score[i]), -Infinity);
    const first = answered.find((i) => score[i] === best);
    return first === undefined ? null : answers[first];
  });
  return { level: 'group', values };
}

/** [groups] the answer with the highest sum of weights, the first seen of several; null where nobody answered. */
function votedAnswers(answers: TextValues, members: readonly (readonly number[])[], weight: Float64Array): Column {
  const values = members.map((rows) => {
    const votes = new Map<string, number>();
    for (const i of rows) {
      const answer = answers[i];
      if (answer !== null) votes.set(answer, (votes.get(answer) ?? 0) + weight[i]);
    }
    return firstOfMost(votes);
  });
  return { level: 'group', values };
}

/**
 * Process scores of a trajectory's turns made into one, and that compared in the group.
 *
 *     min, product, last, mean, softmin = Σ_t softmax(−p / T)_t · p_t      (aggregateRows)
 *     A[i] = (score[i] − mean_g score) / (std_g score + ε)                 ddof = 1
 *
 * Shown beside it: all the scores, their advantages, and the answer that each rule would select per group.
 */
export const prmAggregate = defineEstimator({
  id: 'prm-aggregate',
  version: 1,
  title: 'Aggregated process scores',
  citation: { code: 'huggingface/search-and-learn:src/sal/utils/score.py@6f81cac' },
  status: 'verified',
  gives: 'advantage',
  levels: ['trajectory'],
  groupRelative: true,
  requires: ['turn.processReward'],
  accepts: ['trajectory.finalAnswer'],
  kinds: { 'trajectory.finalAnswer': 'text' },
  params: PrmAggregateParams,
  estimate(trajectories, columns, params) {
    const { 'turn.processReward': processReward, 'trajectory.finalAnswer': answers } = columns;
    const { emptyScore: empty, softminTemperature: temperature } = params;
    const scoreOf = (how: Aggregate) =>
      aggregateRows(processReward, trajectories.turnOffsets, how, { empty, temperature });
    const scores = new Map(AGGREGATES.map((how) => [how, scoreOf(how)]));
    const advantages = new Map(AGGREGATES.map((how) => [how, groupAdvantage(scores.get(how)!, trajectories, params)]));

    const members = groupMembers(trajectories);
    const [min, last] = [scores.get('min')!, scores.get('last')!];
    const selected = answers && {
      majorityVote: votedAnswers(answers, members, new Float64Array(min.length).fill(1)),
      minMax: bestAnswers(answers, members, min),
      lastMax: bestAnswers(answers, members, last),
      minVote: votedAnswers(answers, members, min),
      lastVote: votedAnswers(answers, members, last),
    };
    const level = 'trajectory';
    return {
      level,
      values: advantages.get(params.aggregate)!,
      explain: {
        ...keyed('trajectoryScore', scores),
        ...keyed('trajectoryAdvantage', advantages),
        ...(selected && Object.fromEntries(Object.entries(selected).map(([rule, answer]) => [`selectedAnswer.${rule}`, answer]))), // prettier-ignore
      },
    };
  },
});

/** A column per aggregate, named `name.aggregate`. */
function keyed(name: string, values: ReadonlyMap<Aggregate, Float64Array>): Record<string, Column> {
  return Object.fromEntries(
    [...values].map(([how, column]) => [`${name}.${how}`, { level: 'trajectory', values: column }]),
  );
}
