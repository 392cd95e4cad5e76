import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { ownerOf } from '#lib/numeric';
import { z } from 'zod';
import { mean, successOf } from '../groups.js';
import { counted, figure, percent } from '../sentences.js';
import { stepwise } from '../stepwise.js';

/**
 * What the context is filled with, of turns whose tokens were recorded.
 *
 *     generated     tokens with mask 1: thoughts and actions        observed: tokens with mask 0
 *     observationShare          observed / all
 *     earlyTokens, lateTokens   mean tokens of a turn in the first and in the last third of its trajectory
 *     omittedTurnShare          turns that omit a thought or an observation from the context
 *
 * Source: ours, after Agent-Omit, HiconAgent and HAR.
 */
export function tokenBudget(trajectories: TrajectoryBatch) {
  const { tokenOffsets, turnOffsets, stateKey } = trajectories;
  const mask = numbers(trajectories, 'token.mask');
  const owner = ownerOf(turnOffsets);
  let [generated, observed] = [0, 0];
  const early: number[] = [];
  const late: number[] = [];
  for (let turn = 0; turn < stateKey.length; turn++) {
    const [from, to] = [tokenOffsets[turn], tokenOffsets[turn + 1]];
    if (from === to) continue;
    for (let token = from; token < to; token++) {
      if (mask?.[token] === 0) observed++;
      else generated++;
    }
    const first = turnOffsets[owner[turn]];
    const place = (turn - first) / (turnOffsets[owner[turn] + 1] - first);
    if (place < 1 / 3) early.push(to - from);
    else if (place >= 2 / 3) late.push(to - from);
  }
  const thought = numbers(trajectories, 'turn.omitsThought');
  const observation = numbers(trajectories, 'turn.omitsObservation');
  const omits = (turn: number) => (thought?.[turn] ?? 0) > 0 || (observation?.[turn] ?? 0) > 0;
  const success = successOf(trajectories);
  const rows = [...trajectories.ids.keys()].filter((row) => !Number.isNaN(success[row]));
  const turnsOf = (row: number) => Array.from({ length: turnOffsets[row + 1] - turnOffsets[row] }, (_, t) => turnOffsets[row] + t); // prettier-ignore
  const isOmitting = (row: number) => turnsOf(row).some(omits);
  const hasFlags = thought !== null || observation !== null;
  const all = generated + observed;
  return {
    observationShare: mask && all > 0 ? observed / all : null,
    generatedTokens: all > 0 ? generated : null,
    earlyTokens: mean(early),
    lateTokens: mean(late),
    omittedTurnShare: hasFlags ? mean([...stateKey.keys()].map((turn) => Number(omits(turn)))) : null,
    successOmitting: hasFlags ? mean(rows.filter(isOmitting).map((row) => success[row])) : null,
    successKeeping: hasFlags ? mean(rows.filter((row) => !isOmitting(row)).map((row) => success[row])) : null,
  };
}

export const tokenBudgetProfileDiagnostic = stepwise({
  id: 'token-budget-profile',
  version: 1,
  title: 'What fills the context',
  question: 'How much of the context are observations, and does leaving some out cost success?',
  remedy: 'Shorten or omit old observations (Agent-Omit, HiconAgent), and give the agent the summary it needs.',
  headline: 'observationShare',
  level: 'trajectory',
  status: 'own',
  source: 'after Agent-Omit, HiconAgent and HAR; ours',
  requires: [],
  accepts: [
    'token.mask',
    'turn.omitsThought',
    'turn.omitsObservation',
    'trajectory.outcomeReward',
    'trajectory.success',
  ],
  metrics: [],
  needs: 'tokens, turn.omitsThought or turn.omitsObservation',
  params: z.strictObject({}),
  thresholds: z.strictObject({
    observations: z
      .number()
      .min(0)
      .max(1)
      .default(0.8)
      .describe('share of observations in the context: more is worth a note'),
  }),

  measure({ trajectories }) {
    const found = tokenBudget(trajectories);
    if (found.generatedTokens === null && found.omittedTurnShare === null) return null;
    const noFlags = 'needs turn.omitsThought or turn.omitsObservation';
    return {
      values: found,
      reasons: {
        observationShare: 'needs token.mask',
        generatedTokens: 'no tokens were recorded',
        earlyTokens: 'no tokens were recorded',
        lateTokens: 'needs tokens of trajectories of three turns',
        omittedTurnShare: noFlags,
        successOmitting: found.omittedTurnShare === null ? noFlags : 'no trajectory omits anything',
        successKeeping: found.omittedTurnShare === null ? noFlags : 'every trajectory omits something',
      },
      observations: trajectories.ids.length,
    };
  },

  sentence({ observationShare, earlyTokens, lateTokens, omittedTurnShare, successOmitting, successKeeping }) {
    const parts = [
      ...(observationShare === null ? [] : [`${percent(observationShare)} of the tokens are observations`]),
      ...(earlyTokens === null || lateTokens === null ? [] : [`a turn has ${counted(earlyTokens, 'token')} early and ${figure(lateTokens)} late`]), // prettier-ignore
      ...(omittedTurnShare === null ? [] : [`${percent(omittedTurnShare)} of the turns omit something`]),
      ...(successOmitting === null || successKeeping === null ? [] : [`omitting succeeds in ${percent(successOmitting)}, keeping all in ${percent(successKeeping)}`]), // prettier-ignore
    ];
    return parts.length > 0 ? parts.join('; ') : 'the tokens do not say what is generated and what observed';
  },

  rules: ({ observations }) => [
    {
      id: 'mostly-observations',
      level: 'info',
      all: [{ value: 'observationShare', op: '>', limit: observations }],
      minimum: 32,
      says: `more than ${percent(observations)} of the tokens are observations`,
    },
  ],
});
