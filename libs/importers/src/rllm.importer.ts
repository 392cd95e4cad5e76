import type { Signals, TokenColumns } from '#lib/protocol';
import { canonicalJson } from '#lib/kernel';
import { z } from 'zod';
import { actionOf, spoken } from './chat.js';
import { has } from './glimpse.js';
import { digestOf, nameOf, said } from './identity.js';
import { defineImporter } from './importer.js';
import { scalarSignals, successOf } from './outcome.js';
import { readerOf, type Said } from './say.js';
import { chatMessage, LooseMessage } from './traces.js';

const Numbers = z.array(z.number().nullable()).nullish();

const Step = z.looseObject({
  observation: z.unknown().optional(),
  thought: z.string().nullish(),
  action: z.unknown().optional(),
  reward: z.number().nullish(),
  model_response: z.string().nullish(),
  chat_completions: z.array(LooseMessage).nullish(),
  response_ids: Numbers,
  logprobs: Numbers,
  advantage: z.union([z.number(), z.array(z.number().nullable())]).nullish(),
  mc_return: z.number().nullish(),
});

const Trajectory = z.looseObject({
  name: z.string().nullish(),
  uid: z.string().nullish(),
  reward: z.number().nullish(),
  steps: z.array(Step),
});

const Episode = z.looseObject({
  episode_id: z.string().nullish(),
  id: z.string().nullish(),
  training_step: z.int().nonnegative().nullish(),
  task_hash: z.string().nullish(),
  is_correct: z.boolean().nullish(),
  termination_reason: z.string().nullish(),
  metrics: z.record(z.string(), z.unknown()).nullish(),
  trajectories: z.array(Trajectory),
});

type Step = z.infer<typeof Step>;
type Trajectory = z.infer<typeof Trajectory>;
type Episode = z.infer<typeof Episode>;

export const rllm = defineImporter({
  id: 'rllm',
  title: 'rLLM episodes',
  description:
    'One JSON document per episode (rllm-org/rllm), of a training log or an evaluation. The group is the task and the name of the agent.',
  recognizes: ({ first }) =>
    Array.isArray(first.trajectories) && (has(first, 'episode_id') || has(first, 'is_correct'))
      ? 'it has trajectories and an episode_id or is_correct'
      : null,
  reader: () =>
    readerOf(Episode, function* (episode): Iterable<Said> {
      const { trajectories, ...source } = episode;
      const id = episode.episode_id ?? episode.id ?? digestOf(episode, 12);
      for (const [i, trajectory] of trajectories.entries()) {
        yield { trajectory: trajectoryOf(episode, trajectory, id, i, i === 0 ? source : null) };
      }
    }),
});

function trajectoryOf(episode: Episode, trajectory: Trajectory, id: string, index: number, source: object | null) {
  const { name, uid, steps, reward, ...rest } = trajectory;
  const task = id.includes(':') ? id.slice(0, id.lastIndexOf(':')) : (episode.task_hash ?? id);
  const trainingStep = episode.training_step ?? 0;
  const outcome =
    reward ?? (episode.is_correct === undefined || episode.is_correct === null ? null : Number(episode.is_correct));
  return said({
    id: nameOf([`step-${trainingStep}`, id, name ?? 'agent', uid ?? index].join('-')),
    group: nameOf(`${task}:${name ?? 'agent'}`),
    trainingStep,
    outcomeReward: outcome,
    success: episode.is_correct ?? successOf(outcome),
    signals: said({
      ...scalarSignals(episode.metrics ?? {}),
      agent: name ?? undefined,
      ended: episode.termination_reason ?? undefined,
    }) as Signals,
    turns: steps.map(turnOf),
    source: { ...source, trajectory: rest },
  });
}

/** What was said and done comes from the conversation where there is one: it grows with each step. */
function turnOf(step: Step) {
  const messages = (step.chat_completions ?? []).map(chatMessage);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const before = messages.slice(0, Math.max(last, 0));
  const since = before.slice(before.findLastIndex(({ role }) => role === 'assistant') + 1);
  const heard = since.filter(({ role }) => role !== 'system');
  const { advantage, logprobs, response_ids: ids } = step;
  const tokens = said({
    tokenId: logprobs && ids && ids.length === logprobs.length ? ids : undefined,
    rolloutLogprob: logprobs && logprobs.length > 0 ? logprobs : undefined,
    loggedAdvantage: Array.isArray(advantage) ? advantage : undefined,
  });
  return said({
    state: heard.length > 0 ? heard.map(spoken).join('\n') : textOf(step.observation),
    action: last >= 0 ? actionOf(messages[last]) : (step.model_response ?? textOf(step.action)),
    reward: step.reward ?? undefined,
    signals: said({
      thought: step.thought || undefined,
      loggedAdvantage: typeof advantage === 'number' ? advantage : undefined,
      mcReturn: step.mc_return ?? undefined,
    }) as Signals,
    tokens: Object.keys(tokens).length > 0 ? (tokens as TokenColumns) : undefined,
  });
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : canonicalJson(value);
}
