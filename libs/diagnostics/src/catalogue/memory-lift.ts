import { numbers, type TrajectoryBatch } from '#lib/dataset';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { groupRows, mean } from '../groups.js';
import { tokensOfTrajectories } from '../lengths.js';
import { counted, figure, percent } from '../sentences.js';

/** What one group with rollouts of both kinds says. */
export interface MemoryPair {
  readonly group: string;
  /** mean outcome with memory less without */
  readonly lift: number;
  /** mean tokens with memory over those without, less 1; null: not known */
  readonly tokenCost: number | null;
}

interface MemoryTally {
  readonly n: number;
  readonly sum: number;
}

/** What is kept of a training step. */
interface MemoryFigures {
  readonly pairs: readonly MemoryPair[];
  readonly used: MemoryTally;
  readonly spared: MemoryTally;
}

/** The groups of a batch that hold rollouts with and without memory, and outcomes of all rollouts by kind. */
export function memoryFigures(trajectories: TrajectoryBatch): MemoryFigures {
  const flag = numbers(trajectories, 'trajectory.usedMemory');
  const reward = numbers(trajectories, 'trajectory.outcomeReward');
  const tokens = tokensOfTrajectories(trajectories);
  const isSaid = (row: number) =>
    flag !== null && reward !== null && !Number.isNaN(flag[row]) && !Number.isNaN(reward[row]);
  const rows = [...trajectories.ids.keys()].filter(isSaid);
  const tally = (some: readonly number[]) => ({
    n: some.length,
    sum: some.reduce((sum, row) => sum + reward![row], 0),
  });
  return {
    pairs: groupRows(trajectories).flatMap(({ name, rows: members }) => {
      const said = members.filter(isSaid);
      const [used, spared] = [said.filter((row) => flag![row] > 0), said.filter((row) => flag![row] === 0)];
      if (used.length === 0 || spared.length === 0) return [];
      const [costly, cheap] = [mean(used.map((row) => tokens[row]))!, mean(spared.map((row) => tokens[row]))!];
      const cost = cheap > 0 ? costly / cheap - 1 : NaN;
      return [{ group: name, lift: mean(used.map((row) => reward![row]))! - mean(spared.map((row) => reward![row]))!, tokenCost: Number.isNaN(cost) ? null : cost }]; // prettier-ignore
    }),
    used: tally(rows.filter((row) => flag![row] > 0)),
    spared: tally(rows.filter((row) => flag![row] === 0)),
  };
}

/**
 * What memory brings, over groups that hold rollouts with and without it.
 *
 *     pairedLift         mean over groups of mean outcome with − without; pairedLiftSe its standard error
 *     relativeTokenCost  mean over groups of tokens with / tokens without − 1
 *     harmfulGroupShare  groups with a lift below 0
 *     rawLift            over all rollouts, unpaired: memory may have been used on easier tasks
 *
 * Source: ours, after Complementary RL and SWE-ContextBench.
 */
export function memoryLift(figures: readonly MemoryFigures[]) {
  const pairs = figures.flatMap((step) => step.pairs);
  const lifts = pairs.map(({ lift }) => lift);
  const pairedLift = mean(lifts);
  const n = lifts.length;
  const squares = lifts.reduce((sum, lift) => sum + (lift - pairedLift!) ** 2, 0);
  const total = (side: 'used' | 'spared') =>
    figures.reduce((sum, step) => ({ n: sum.n + step[side].n, sum: sum.sum + step[side].sum }), { n: 0, sum: 0 });
  const [used, spared] = [total('used'), total('spared')];
  return {
    pairedGroups: n,
    pairedLift,
    pairedLiftSe: n > 1 ? Math.sqrt(squares / (n - 1) / n) : null,
    relativeTokenCost: mean(pairs.flatMap(({ tokenCost }) => (tokenCost === null ? [] : [tokenCost]))),
    rawLift: used.n > 0 && spared.n > 0 ? used.sum / used.n - spared.sum / spared.n : null,
    harmfulGroupShare: mean(lifts.map((lift) => Number(lift < 0))),
  };
}

const EVIDENCE = 10;
const LEAST_PAIRS = 20;
const NO_PAIR = 'no group holds rollouts with and without memory';

export const memoryLiftDiagnostic = defineDiagnostic({
  id: 'memory-lift',
  version: 1,
  title: 'What memory brings',
  question: 'Does using memory help, and what does it cost?',
  remedy:
    'Where it does not help, stop retrieving, prune the memory, or reward its use only where it changed the outcome.',
  headline: 'pairedLift',
  level: 'group',
  status: 'own',
  source: 'paired inside groups, after Complementary RL and SWE-ContextBench; ours',
  requires: ['trajectory.usedMemory', 'trajectory.outcomeReward'],
  accepts: ['trajectory.tokenCount', 'turn.tokenCount', 'token.mask'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    window: z.int().min(1).default(10).describe('last training steps whose groups are compared'),
    lift: z.number().default(0).describe('mean lift up to which memory does not help: a warning'),
  }),

  measure({ trajectories }) {
    const figures = memoryFigures(trajectories);
    return figures.used.n + figures.spared.n > 0 ? figures : null;
  },

  read(steps, { window }) {
    const at = (i: number) => valuesAt(steps, i, window);
    const values = at(steps.length - 1);
    const { pairedGroups, pairedLift, pairedLiftSe, relativeTokenCost } = values;
    const cost =
      relativeTokenCost === null
        ? ''
        : `, for ${percent(Math.abs(relativeTokenCost))} ${relativeTokenCost < 0 ? 'fewer' : 'more'} tokens`;
    const first = Math.max(0, steps.length - window);
    return {
      values,
      reasons: {
        ...(pairedLift === null && { pairedLift: NO_PAIR, harmfulGroupShare: NO_PAIR }),
        ...(pairedLiftSe === null && { pairedLiftSe: 'needs two groups with both kinds' }),
        ...(relativeTokenCost === null && { relativeTokenCost: 'needs token counts in a group with both kinds' }),
        ...(values.rawLift === null && { rawLift: 'needs rollouts with and without memory' }),
      },
      sentence:
        pairedLift === null
          ? `cannot be said: ${NO_PAIR}`
          : `memory changes the outcome by ${figure(pairedLift)}${pairedLiftSe === null ? '' : ` ± ${figure(pairedLiftSe)}`} over ${counted(pairedGroups, 'group')} with both kinds${cost}`,
      steps: steps.map(({ trainingStep }, i) => {
        const then = at(i);
        return { trainingStep, values: then, observations: then.pairedGroups };
      }),
      evidence: steps
        .slice(first)
        .flatMap(({ trainingStep, figures }) => figures.pairs.map((pair) => ({ trainingStep, ...pair })))
        .filter(({ lift }) => lift < 0)
        .sort((a, b) => a.lift - b.lift)
        .slice(0, EVIDENCE)
        .map(({ trainingStep, group, lift }) => ({ trainingStep, group, note: `with memory the outcome is ${figure(-lift)} lower` })), // prettier-ignore
    };
  },

  rules: ({ lift }) => [
    {
      id: 'no-help',
      level: 'warn',
      all: [{ value: 'pairedLift', op: '<=', limit: lift }],
      minimum: LEAST_PAIRS,
      says: 'memory is used and does not help',
    },
  ],
});

const valuesAt = (steps: readonly Measured<MemoryFigures>[], i: number, window: number) =>
  memoryLift(steps.slice(Math.max(0, i + 1 - window), i + 1).map(({ figures }) => figures));
