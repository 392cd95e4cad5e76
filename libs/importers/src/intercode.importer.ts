import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { has } from './glimpse.js';
import { nameOf, said } from './identity.js';
import { defineImporter } from './importer.js';
import { readEntries } from './read-records.js';
import { readerOf, type Said } from './say.js';

const Task = z.looseObject({
  environment: z.string().optional(),
  task_id: z.union([z.int(), z.string()]),
  query: z.string(),
  hardness: z.string().optional(),
  turn_history: z.looseObject({
    actions: z.array(z.string()),
    observations: z.array(z.unknown()),
    rewards: z.array(z.number().nullable()),
    valid_action: z.array(z.boolean()).optional(),
    thoughts: z.array(z.string()).optional(),
  }),
  summary: z.looseObject({ max_reward: z.number(), turns_max: z.int().optional() }),
});

type Task = z.infer<typeof Task>;

const Entry = z.record(z.string(), Task);

export const intercode = defineImporter({
  id: 'intercode',
  title: 'InterCode results, a reward on every turn',
  description:
    'One JSON object by task (princeton-nlp/intercode). The group is the task: files of several policies in one run make groups of different policies, not of one.',
  settings: z.strictObject({
    policy: z.string().min(1).optional().describe('the policy whose file it is; becomes a signal'),
  }),
  recognizes: ({ first }) =>
    Object.values(first)
      .slice(0, 1)
      .some((task) => has(task, 'turn_history', 'task_id', 'query'))
      ? 'it is an object of tasks with a turn_history'
      : null,
  reader: ({ policy }) =>
    readerOf(
      Entry,
      function* (entry, { fileKey }): Iterable<Said> {
        for (const task of Object.values(entry)) yield { trajectory: trajectoryOf(task, policy, fileKey) };
      },
      readEntries,
    ),
});

/**
 * Turn t is `actions[t]`; what it acts on is the question at first, then the observation of the turn before. The file
 * does not say whose it is, and policies do answer alike, so the id names the file.
 */
function trajectoryOf(task: Task, policy: string | undefined, fileKey: string) {
  const { task_id, query, hardness, environment, turn_history, summary, ...source } = task;
  const { actions, observations, rewards, valid_action, thoughts } = turn_history;
  const turns = actions.map((action, t) => ({
    state: t === 0 ? query : textOf(observations[t - 1]),
    action,
    ...(rewards[t] === undefined ? {} : { reward: rewards[t] }),
    // The last action of some is "blocked": the model call failed, and nothing was observed or validated.
    signals: said({ grounded: valid_action?.[t], thought: thoughts?.[t] }) as Signals,
  }));
  const isBlocked = actions.length > observations.length;
  return {
    id: nameOf(`task-${task_id}-${policy ?? fileKey}`),
    group: nameOf(task_id),
    trainingStep: 0,
    outcomeReward: summary.max_reward,
    success: summary.max_reward === 1,
    signals: said({
      dataset: environment,
      policy,
      hardness,
      finalState: actions.length > 0 && !isBlocked ? textOf(observations[actions.length - 1]) : undefined,
      truncated: summary.max_reward < 1 && actions.length === summary.turns_max ? true : undefined,
      error: isBlocked ? 'the last model call failed' : undefined,
    }) as Signals,
    turns,
    summary,
    source,
  };
}

function textOf(observation: unknown): string {
  return typeof observation === 'string' ? observation : JSON.stringify(observation ?? null);
}
