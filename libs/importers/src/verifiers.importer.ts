import type { Signals, Turn } from '#lib/protocol';
import { z } from 'zod';
import { chatTurns, toolCallCount } from './chat.js';
import { has, type Glimpse } from './glimpse.js';
import { digestOf, nameOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { scalarSignals, successOf } from './outcome.js';
import { readerOf, type Said } from './say.js';
import { chatMessage, LooseMessage, TraceEpisode, traceTrajectories } from './traces.js';

const Messages = z.union([z.string(), z.array(LooseMessage)]);
const Numbers = z.array(z.number().nullable());

const Step = z.looseObject({
  tokens: z.looseObject({ completion_ids: Numbers.nullish(), completion_logprobs: Numbers.nullish() }).nullish(),
  reward: z.number().nullish(),
  advantage: z.number().nullish(),
});

const Result = z.looseObject({
  example_id: z.union([z.int(), z.string()]),
  prompt: Messages,
  completion: Messages,
  reward: z.number().nullable(),
  metrics: z.record(z.string(), z.number().nullable()).nullish(),
  is_truncated: z.boolean().nullish(),
  stop_condition: z.string().nullish(),
  error: z.unknown().optional(),
  trajectory: z.array(Step).nullish(),
});

type Result = z.infer<typeof Result>;

/** Traces of a training are prime-rl's; the same traces of an evaluation are verifiers' own. */
export function isTrace({ first }: Glimpse): boolean {
  return has(first, 'traces', 'task');
}

export function isOfTraining({ first, path }: Glimpse): boolean {
  const work = (first.run as { work?: { step?: unknown } } | undefined)?.work;
  return typeof work?.step === 'number' || /step_\d+\//.test(path);
}

export const verifiers = defineImporter({
  id: 'verifiers',
  title: 'verifiers evaluations: results.jsonl, and traces.jsonl of version 1',
  description: 'JSONL of PrimeIntellect-ai/verifiers. The group is the example, or the group of the traces.',
  recognizes: (glimpse) => {
    if (has(glimpse.first, 'example_id', 'prompt', 'completion')) {
      return 'its first line has example_id, prompt and completion';
    }
    return isTrace(glimpse) && !isOfTraining(glimpse)
      ? 'its first line has traces of a task, and no training step'
      : null;
  },
  reader: () => {
    const ids = new Occurrences();
    return readerOf(shapeOf, function* (record): Iterable<Said> {
      if ('traces' in record) yield* traceTrajectories(record as TraceEpisode, 0);
      else yield { trajectory: trajectoryOf(record, ids) };
    });
  },
});

function shapeOf(record: unknown): typeof TraceEpisode | typeof Result {
  return has(record, 'traces') ? TraceEpisode : Result;
}

function trajectoryOf(result: Result, ids: Occurrences) {
  const { example_id, prompt, completion, reward, metrics, trajectory, ...source } = result;
  const before = messagesOf(prompt, 'user');
  const messages = [...before, ...messagesOf(completion, 'assistant')];
  // What the prompt holds of the assistant is an example, or an earlier conversation: no turn of this one.
  const examples = before.filter(({ role }) => role === 'assistant').length;
  const { turns, finalState, system } = chatTurns(messages);
  const own = turns.slice(examples);
  return said({
    id: ids.name(nameOf(`${example_id}-${digestOf(result, 12)}`)),
    group: nameOf(example_id),
    trainingStep: 0,
    outcomeReward: reward,
    success: successOf(reward),
    signals: said({
      ...scalarSignals(metrics ?? {}),
      toolCalls: toolCallCount(messages.slice(before.length)),
      ended: result.stop_condition ?? undefined,
      truncated: result.is_truncated ?? undefined,
      error: typeof result.error === 'string' ? result.error : undefined,
      finalState: own.length > 0 ? finalState : undefined,
    }) as Signals,
    turns: own.map((turn, t) => withStep(turn, trajectory?.length === own.length ? trajectory[t] : undefined)),
    prompt: system,
    source,
  });
}

function messagesOf(messages: z.infer<typeof Messages>, role: string) {
  return typeof messages === 'string' ? [{ role, content: messages }] : messages.map(chatMessage);
}

function withStep(turn: Turn, step: z.infer<typeof Step> | undefined): Turn {
  const ids = step?.tokens?.completion_ids ?? [];
  const logprobs = step?.tokens?.completion_logprobs ?? [];
  const advantage = step?.advantage ?? undefined;
  return said({
    ...turn,
    reward: step?.reward ?? undefined,
    signals: advantage === undefined ? turn.signals : { ...turn.signals, loggedAdvantage: advantage },
    tokens: ids.length > 0 && ids.length === logprobs.length ? { tokenId: ids, rolloutLogprob: logprobs } : undefined,
  });
}
