import { canonicalJson } from '#lib/kernel';
import type { Signals, TokenColumns, Turn } from '#lib/protocol';
import { z } from 'zod';
import { sortedJson } from './chat.js';
import { hasFields } from './glimpse.js';
import { digestOf, nameOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { scalarSignals, successOf } from './outcome.js';
import { readerOf } from './say.js';

const Numbers = z.array(z.number().nullable());

const Item = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.unknown().optional(),
  summary: z.unknown().optional(),
  name: z.string().optional(),
  arguments: z.unknown().optional(),
  output: z.unknown().optional(),
  generation_token_ids: Numbers.nullish(),
  generation_log_probs: Numbers.nullish(),
  prompt_token_ids: Numbers.nullish(),
});

const Rollout = z.looseObject({
  responses_create_params: z.looseObject({ input: z.union([z.string(), z.array(Item)]).nullish() }),
  response: z.looseObject({ output: z.array(Item), model: z.string().nullish() }),
  reward: z.number().nullable(),
  _ng_task_index: z.union([z.int(), z.string()]).nullish(),
  _ng_rollout_index: z.int().nullish(),
  agent_ref: z.looseObject({ name: z.string().optional() }).nullish(),
  resolved: z.boolean().nullish(),
});

type Item = z.infer<typeof Item>;
type Rollout = z.infer<typeof Rollout>;

export const nemoGym = defineImporter({
  id: 'nemo-gym',
  title: 'NeMo Gym rollouts',
  description:
    'JSONL of NVIDIA-NeMo/Gym: a request, a response of the Responses API and a reward per line. Without a task index the group is the request.',
  recognizes: (glimpse) => hasFields(glimpse, ['responses_create_params', 'response', 'reward']),
  reader: () => {
    const ids = new Occurrences();
    return readerOf(Rollout, (rollout) => [{ trajectory: trajectoryOf(rollout, ids) }]);
  },
});

function trajectoryOf(rollout: Rollout, ids: Occurrences) {
  const { responses_create_params, response, reward, agent_ref, resolved, ...verdict } = rollout;
  const { _ng_task_index: task, _ng_rollout_index: index } = rollout;
  const { output, ...answer } = response;
  const { input, ...request } = responses_create_params;
  const group = task === undefined || task === null ? `input-${digestOf(input ?? null, 12)}` : nameOf(task);
  const { turns, finalState } = turnsOf(input ?? [], output);
  return said({
    id: ids.name([group, ...(index === undefined || index === null ? [] : [index]), digestOf(rollout)].join('-')),
    group,
    trainingStep: 0,
    outcomeReward: reward,
    success: resolved ?? successOf(reward),
    signals: said({
      ...scalarSignals({ ...verdict, resolved }),
      dataset: agent_ref?.name,
      policy: response.model || undefined,
      toolCalls: output.filter(({ type }) => type === 'function_call').length,
      finalState,
    }) as Signals,
    turns,
    source: said({ request: { ...request, input }, response: answer, agent_ref, ...verdict }),
  });
}

/** A turn is all that the model said in one go: reasoning, text and calls, up to what answers it. */
function turnsOf(input: string | readonly Item[], output: readonly Item[]) {
  const turns: Turn[] = [];
  let heard =
    typeof input === 'string'
      ? [`user:${input}`]
      : input
          .filter((item) => !isModels(item))
          .slice(-1)
          .map(heardOf);
  let own: Item[] = [];
  const end = () => {
    if (own.length === 0) return;
    turns.push(turnOf(heard.join('\n'), own));
    heard = [];
    own = [];
  };
  for (const item of output) {
    if (isModels(item)) {
      own.push(item);
    } else {
      end();
      heard.push(heardOf(item));
    }
  }
  end();
  return { turns, finalState: turns.length > 0 && heard.length > 0 ? heard.join('\n') : undefined };
}

function isModels({ type, role }: Item): boolean {
  return (
    type === 'reasoning' ||
    type === 'function_call' ||
    ((type === undefined || type === 'message') && role === 'assistant')
  );
}

function heardOf(item: Item): string {
  if (item.type === 'function_call_output') return `tool:${textOf(item.output)}`;
  return `${item.role ?? item.type ?? 'user'}:${textOf(item.content)}`;
}

function turnOf(state: string, items: readonly Item[]): Turn {
  const calls = items.filter(({ type }) => type === 'function_call');
  const texts = items.filter(({ role }) => role === 'assistant').map(({ content }) => textOf(content));
  const reasoning = items.filter(({ type }) => type === 'reasoning').map(({ summary }) => textOf(summary));
  const thought = [...reasoning, ...(calls.length > 0 ? texts : [])].filter((text) => text.trim() !== '').join('\n');
  const tokens = tokensOf(items);
  return {
    state,
    action:
      calls.length > 0
        ? calls.map((call) => `${call.name ?? ''}${sortedJson(call.arguments)}`).join('\n')
        : `respond:${texts.join('\n')}`,
    ...(thought === '' ? {} : { signals: { thought } }),
    ...(tokens === null ? {} : { tokens }),
  };
}

/** Token data stands on the item that ended a call of the model; empty lists say that it was not kept. */
function tokensOf(items: readonly Item[]): TokenColumns | null {
  const ids = items.flatMap((item) => item.generation_token_ids ?? []);
  const logprobs = items.flatMap((item) => item.generation_log_probs ?? []);
  if (logprobs.length === 0) return null;
  return { logprob: logprobs, ...(ids.length === logprobs.length ? { tokenId: ids } : {}) };
}

/** Text, the texts of parts, or anything else as JSON. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === null || content === undefined) return '';
  if (!Array.isArray(content)) return canonicalJson(content);
  return content
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string'
        ? part.text
        : canonicalJson(part ?? null),
    )
    .join('\n');
}
