import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { ChatMessage, contentOf } from './chat.js';
import { has } from './glimpse.js';
import { nameOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { readerOf } from './say.js';

const Episode = z.looseObject({
  task: z.looseObject({ task_id: z.union([z.int(), z.string()]), task_name: z.string().optional() }),
  state: z.looseObject({
    history: z.array(ChatMessage),
    success: z.boolean(),
    terminate_reason: z.string().nullish(),
    latest_output: z.looseObject({ observation: z.unknown().optional() }).nullish(),
    error: z.string().nullish(),
  }),
});

type Episode = z.infer<typeof Episode>;

export const mint = defineImporter({
  id: 'mint',
  title: 'MINT results',
  description:
    'JSONL of xingyaoww/mint-bench. The group is the task: files of several policies, or of several step budgets, in one run make groups of unequal rollouts.',
  settings: z.strictObject({
    policy: z.string().min(1).optional().describe('the policy whose file it is; becomes a signal'),
  }),
  recognizes: ({ first }) =>
    has(first.state, 'history', 'success') && has(first.task, 'task_id')
      ? 'its first line has a state with history and success, and a task'
      : null,
  reader: ({ policy }) => {
    const ids = new Occurrences();
    return readerOf(Episode, (episode, { fileKey }) => [
      { trajectory: trajectoryOf(episode, policy, (task) => ids.name(nameOf(`${task}-${policy ?? fileKey}`))) },
    ]);
  },
});

function trajectoryOf({ task, state, ...rest }: Episode, policy: string | undefined, idOf: (task: string) => string) {
  const { history, success, terminate_reason, latest_output, error, ...progress } = state;
  const observation = latest_output?.observation;
  const turns = history.flatMap((message, i) =>
    message.role === 'assistant' ? [{ state: i === 0 ? '' : stateOf(history[i - 1]), action: contentOf(message) }] : [],
  );
  return said({
    id: idOf(String(task.task_id)),
    group: nameOf(task.task_id),
    trainingStep: 0,
    outcomeReward: Number(success),
    success,
    signals: said({
      dataset: task.task_name,
      policy,
      ended: terminate_reason ?? undefined,
      truncated: terminate_reason === 'max_steps' || terminate_reason === 'max_propose_steps' ? true : undefined,
      finalState: typeof observation === 'string' && observation !== '' ? observation : undefined,
      error: error ?? undefined,
    }) as Signals,
    turns,
    source: { task, state: { ...progress, latest_output }, ...rest },
  });
}

const BUDGET = /^You have \d+ steps? left and \d+ chances? to propose solution left\.$/;
const LAST_STEP = /^You should take the last step to propose a solution\.$/;

/** What was observed, without the lines that count down what is left: with them no two rollouts share a state. */
function stateOf(message: ChatMessage): string {
  const lines = contentOf(message).trimEnd().split('\n');
  while (lines.length > 0 && (BUDGET.test(lines.at(-1)!) || LAST_STEP.test(lines.at(-1)!))) lines.pop();
  return lines
    .join('\n')
    .replace(/^Observation:\n?/, '')
    .trimEnd();
}
