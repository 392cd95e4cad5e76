import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { actionOf, spoken, type ChatMessage } from './chat.js';
import { hasFields } from './glimpse.js';
import { digestOf, nameOf, said } from './identity.js';
import { defineImporter, type Reader, type SourceEvent } from './importer.js';
import { successOf } from './outcome.js';
import { readerOf, type Said } from './say.js';
import { chatMessage, LooseMessage } from './traces.js';

const Numbers = z.array(z.number().nullable()).nullish();

const Choice = z.looseObject({
  message: LooseMessage.nullish(),
  token_ids: Numbers,
  logprobs: z.looseObject({ content: z.array(z.looseObject({ logprob: z.number() })).nullish() }).nullish(),
});

const ModelRequest = z.looseObject({
  model: z.string().nullish(),
  model_version: z.union([z.int(), z.string()]).nullish(),
  request: z.looseObject({ messages: z.array(LooseMessage).nullish() }).nullish(),
  response: z.looseObject({ choices: z.array(Choice).nullish() }).nullish(),
  latency_ms: z.number().nullish(),
  finish_reason: z.string().nullish(),
});

const Reward = z.looseObject({ value: z.number().nullable() });

const Event = z.looseObject({
  event_type: z.string(),
  rollout_id: z.string(),
  attempt_id: z.string().nullish(),
  timestamp: z.union([z.number(), z.string()]).nullish(),
  data: z.record(z.string(), z.unknown()),
});

type Event = z.infer<typeof Event>;

/** One attempt at a rollout, as far as its events have been read. Its last turn waits for the rewards that follow it. */
interface Attempt {
  readonly id: string;
  group: string | null;
  trainingStep: number;
  turns: number;
  reward: number | null | undefined;
  waiting: SourceEvent | null;
  at: string;
}

export const agentLightning = defineImporter({
  id: 'agent-lightning',
  title: 'Agent Lightning events',
  description:
    'JSONL of model_request and reward events (microsoft/agent-lightning). Every request of an attempt is a turn; the group is its first prompt, the outcome reward its last reward.',
  recognizes: (glimpse) => hasFields(glimpse, ['event_type', 'rollout_id', 'data']),
  reader: (): Reader => {
    const attempts = new Map<string, Attempt>();
    let fileKey = '';
    const read = readerOf(Event, (event, place) => {
      ({ fileKey } = place);
      return eventOf(event, attempts);
    });
    return async function* (file) {
      let broken: unknown = null;
      try {
        yield* read(file);
      } catch (error) {
        broken = error;
      }
      const raw = Buffer.from(fileKey);
      const where = `${file.path}: its end`;
      for (const attempt of attempts.values()) {
        for (const event of endOf(attempt)) yield { kind: 'event', where, raw, event };
      }
      attempts.clear();
      if (broken !== null) throw broken;
    };
  },
});

function eventOf(event: Event, attempts: Map<string, Attempt>): Said[] {
  const { rollout_id, attempt_id, event_type, data } = event;
  const id = nameOf(attempt_id ? `${rollout_id}-${attempt_id}` : rollout_id);
  const attempt = attempts.get(id) ?? {
    id,
    group: null,
    trainingStep: 0,
    turns: 0,
    reward: undefined,
    waiting: null,
    at: '',
  };
  attempts.set(id, attempt);
  attempt.at = instantOf(event.timestamp);
  if (event_type === 'reward') {
    const reward = Reward.safeParse(data);
    if (!reward.success) return [{ skipped: 'a reward event without a value' }];
    return rewarded(attempt, reward.data.value);
  }
  if (event_type !== 'model_request') return [{ skipped: `events of type ${event_type} are no turn and no reward` }];
  const request = ModelRequest.safeParse(data);
  const answer = request.success ? request.data.response?.choices?.[0] : undefined;
  if (!request.success || !answer?.message) return [{ skipped: 'a model_request without an answer' }];
  return requested(attempt, request.data, answer);
}

function rewarded(attempt: Attempt, value: number | null): Said[] {
  attempt.reward = value;
  if (attempt.waiting && value !== null) {
    attempt.waiting = { ...attempt.waiting, reward: Number(attempt.waiting.reward ?? 0) + value };
  }
  return [];
}

function requested(attempt: Attempt, data: z.infer<typeof ModelRequest>, answer: z.infer<typeof Choice>): Said[] {
  const messages = (data.request?.messages ?? []).map(chatMessage);
  const heard = since(messages);
  if (attempt.group === null) {
    attempt.group = `prompt-${digestOf(messages.filter(({ role }) => role !== 'system').map(spoken), 12)}`;
    attempt.trainingStep = typeof data.model_version === 'number' && data.model_version >= 0 ? data.model_version : 0;
  }
  const before = attempt.waiting;
  const logprobs = answer.logprobs?.content?.map(({ logprob }) => logprob) ?? [];
  const ids = answer.token_ids ?? [];
  attempt.waiting = said({
    type: 'turn.recorded',
    at: attempt.at,
    trajectory: attempt.id,
    group: attempt.group,
    trainingStep: attempt.trainingStep,
    turn: attempt.turns++,
    state: heard.map(spoken).join('\n'),
    action: actionOf(chatMessage(answer.message!)),
    signals: said({
      policy: data.model ?? undefined,
      modelVersion: data.model_version ?? undefined,
      latencyMs: data.latency_ms ?? undefined,
      ended: data.finish_reason ?? undefined,
    }) as Signals,
    tokens:
      logprobs.length > 0
        ? { rolloutLogprob: logprobs, ...(ids.length === logprobs.length ? { tokenId: ids } : {}) }
        : undefined,
  });
  return before ? [{ event: before }] : [];
}

function endOf({ id, group, trainingStep, turns, reward, waiting, at }: Attempt): SourceEvent[] {
  const ended = said({
    type: 'trajectory.ended',
    at,
    trajectory: id,
    group: group ?? 'no-request',
    trainingStep,
    outcomeReward: reward,
    success: successOf(reward),
    turnCount: turns,
  });
  return waiting ? [waiting, ended] : [ended];
}

/** What was said after the agent's last answer. */
function since(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .filter(({ role }) => role !== 'system');
}

function instantOf(timestamp: number | string | null | undefined): string {
  const time = typeof timestamp === 'number' ? timestamp * 1000 : Date.parse(timestamp ?? '');
  return Number.isFinite(time) && Math.abs(time) < 8e15 ? new Date(time).toISOString() : '1970-01-01T00:00:00Z';
}
