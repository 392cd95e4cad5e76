import { canonicalJson } from '#lib/kernel';
import type { Turn } from '#lib/protocol';
import { z } from 'zod';

export const ToolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});

export const ChatMessage = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(ToolCall).nullish(),
});

export type ToolCall = z.infer<typeof ToolCall>;
export type ChatMessage = z.infer<typeof ChatMessage>;

/** A conversation as turns. */
export interface ChatTurns {
  /** every assistant message is one, whatever it calls */
  readonly turns: Turn[];
  /** per turn the index of its message */
  readonly messageOf: readonly number[];
  /** what came after the last of them */
  readonly finalState: string | undefined;
  readonly system: string | undefined;
}

/**
 * Every assistant message is a turn. Its state is all that was said to the agent since the turn before (the last
 * message of the prompt for the first one), its action the calls or else the answer. What the agent wrote beside its
 * calls, or thought before its answer, is the signal `thought`.
 */
export function chatTurns(messages: readonly ChatMessage[]): ChatTurns {
  const turns: Turn[] = [];
  const messageOf: number[] = [];
  let since: ChatMessage[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role !== 'assistant') {
      if (turns.length > 0) since.push(message);
      else if (message.role !== 'system' && message.role !== 'developer') since = [message];
      continue;
    }
    const thought = thoughtOf(message);
    turns.push({
      state: since.map(spoken).join('\n'),
      action: actionOf(message),
      ...(thought ? { signals: { thought } } : {}),
    });
    messageOf.push(i);
    since = [];
  }
  const system = messages.find(({ role }) => role === 'system' || role === 'developer');
  return {
    turns,
    messageOf,
    finalState: turns.length > 0 && since.length > 0 ? since.map(spoken).join('\n') : undefined,
    system: system && contentOf(system),
  };
}

/** A message as a state: with its role, so that a tool and a person who say the same are two states. */
export function spoken(message: ChatMessage): string {
  return `${message.role}:${contentOf(message)}`;
}

export function actionOf(message: ChatMessage): string {
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return `respond:${contentOf(message)}`;
  return calls.map((call) => call.function.name + sortedJson(call.function.arguments)).join('\n');
}

export function toolCallCount(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (sum, { role, tool_calls }) => sum + (role === 'assistant' ? (tool_calls?.length ?? 0) : 0),
    0,
  );
}

function thoughtOf(message: ChatMessage): string {
  const reasoning = message.reasoning_content ?? message.reasoning;
  const beside = (message.tool_calls ?? []).length > 0 ? contentOf(message) : '';
  return [typeof reasoning === 'string' ? reasoning : '', beside].filter((text) => text.trim() !== '').join('\n');
}

/** Text as it is, parts of text joined, anything else as JSON. */
export function contentOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  if (content === null || content === undefined) return '';
  const texts = Array.isArray(content) ? content.map(textOf) : [null];
  return texts.every((text) => text !== null) ? texts.join('\n') : canonicalJson(content);
}

function textOf(part: unknown): string | null {
  if (typeof part === 'string') return part;
  if (typeof part !== 'object' || part === null || !('text' in part)) return null;
  return typeof part.text === 'string' ? part.text : null;
}

/** Arguments come as JSON text or as an object; what a model wrote wrongly stays as it wrote it. */
export function sortedJson(value: unknown): string {
  if (typeof value !== 'string') return canonicalJson(value ?? {});
  try {
    return canonicalJson(JSON.parse(value));
  } catch {
    return value;
  }
}
