import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { ChatMessage, contentOf, spoken } from './chat.js';
import { hasFields } from './glimpse.js';
import { digestOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { successOf } from './outcome.js';
import { readParquet } from './read-parquet.js';
import { readerOf } from './say.js';

const Text = z.union([z.string(), z.array(ChatMessage)]);

const Completion = z.looseObject({
  step: z.int().nonnegative(),
  prompt: Text,
  completion: Text,
  advantage: z.number().nullable(),
});

type Completion = z.infer<typeof Completion>;

export const trl = defineImporter({
  id: 'trl',
  title: 'TRL completions',
  description:
    'completions_<step>.parquet of log_completions in GRPOTrainer. The outcome reward is the sum of the reward columns: every numeric column, or those that the setting rewards names.',
  container: 'parquet',
  settings: z.strictObject({
    rewards: z.string().optional().describe('the reward columns, separated by commas'),
    weights: z.string().optional().describe('reward_weights of the training, in the same order; default 1 each'),
  }),
  recognizes: (glimpse) =>
    glimpse.layout === 'parquet' ? hasFields(glimpse, ['step', 'prompt', 'completion', 'advantage']) : null,
  reader: ({ rewards, weights }) => {
    const ids = new Occurrences();
    const names = rewards?.split(',').map((name) => name.trim()) ?? null;
    const factors = weights?.split(',').map(Number) ?? [];
    return readerOf(
      Completion,
      (completion) => {
        const missing = names?.find((name) => !(name in completion));
        if (missing !== undefined) return [{ skipped: `it has no column ${missing}` }];
        return [{ trajectory: trajectoryOf(completion, names, factors, ids) }];
      },
      readParquet,
    );
  },
});

function trajectoryOf(row: Completion, names: readonly string[] | null, weights: readonly number[], ids: Occurrences) {
  const { step, prompt, completion, advantage, ...columns } = row;
  const numeric = Object.entries(columns).filter(([, value]) => typeof value === 'number' || value === null);
  const rewards = names ?? numeric.map(([name]) => name);
  const outcome = weightedSum(
    rewards.map((name) => columns[name]),
    weights,
  );
  return said({
    id: ids.name(`step-${step}-${digestOf(row, 12)}`),
    group: `prompt-${digestOf(prompt, 12)}`,
    trainingStep: step,
    outcomeReward: outcome,
    success: successOf(outcome),
    signals: Object.fromEntries(numeric) as Signals,
    turns: [
      {
        state: textOf(prompt, spoken),
        action: textOf(completion, contentOf),
        // the advantage that TRL used, for the audit
        signals: { loggedAdvantage: advantage },
      },
    ],
    source: Object.fromEntries(Object.entries(columns).filter(([name]) => !numeric.some(([other]) => other === name))),
  });
}

/** Rewards that a function did not give are left out of the sum; where none gave one, there is none. */
function weightedSum(rewards: readonly unknown[], weights: readonly number[]): number | null {
  const given = rewards.flatMap((reward, i) => (typeof reward === 'number' ? [reward * (weights[i] ?? 1)] : []));
  return given.length === 0 ? null : given.reduce((sum, reward) => sum + reward, 0);
}

function textOf(text: string | readonly ChatMessage[], say: (message: ChatMessage) => string): string {
  return typeof text === 'string' ? text : text.map(say).join('\n');
}
