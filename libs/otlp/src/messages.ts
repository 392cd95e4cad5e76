import { canonicalJson } from '#lib/kernel';
import { entriesUnder, field, parsed } from './dotted.js';
import type { Attributes, Json, Span } from './span.js';

export interface ToolCall {
  readonly name: string;
  /** JSON text or a value */
  readonly arguments: Json;
}

/** A chat message, whichever convention it was written in. */
export interface Message {
  readonly role: string;
  readonly content: string;
  /** what it thought before it answered; '': it did not say */
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
}

/** What a model was told and what it answered. Empty: the instrumentation does not record content. */
export interface Exchange {
  readonly input: readonly Message[];
  readonly output: readonly Message[];
}

/**
 * The messages of an inference span: the GenAI attributes (structured, or JSON text), the same off the span in its
 * events, the older GenAI events and flattened attributes, OpenInference's flattened messages, and where it has none
 * of them its `input.value` and `output.value`.
 */
export function exchangeOf(span: Span): Exchange {
  const details = span.events.filter(({ name }) => name === 'gen_ai.client.inference.operation.details');
  const places = [span.attributes, ...details.map((event) => event.attributes)];
  const told = first(
    ...places.map((attributes) => messagesAt(attributes, 'gen_ai.input.messages')),
    messagesAt(span.attributes, 'llm.input_messages'),
    messagesAt(span.attributes, 'gen_ai.prompt'),
    promptsOf(span.attributes),
    span.events.flatMap(toldInEvent),
    spokenValue(span.attributes.get('input.value'), 'user'),
  );
  const answered = first(
    ...places.map((attributes) => messagesAt(attributes, 'gen_ai.output.messages')),
    messagesAt(span.attributes, 'llm.output_messages'),
    messagesAt(span.attributes, 'gen_ai.completion'),
    choicesOf(span.attributes),
    span.events.flatMap(chosenInEvent),
    spokenValue(span.attributes.get('output.value'), 'assistant'),
  );
  return { input: told, output: answered };
}

/** A message as a state: with its role, so that a tool and a person who say the same are two states. */
export function spoken({ role, content }: Pick<Message, 'role' | 'content'>): string {
  return `${role}:${content}`;
}

/** An answer as an action: its calls with their arguments sorted, or else what it says. The spelling of the importers. */
export function actionOf({ content, calls }: Pick<Message, 'content' | 'calls'>): string {
  if (calls.length === 0) return `respond:${content}`;
  return calls.map((call) => call.name + sortedJson(call.arguments)).join('\n');
}

/** Text as it is, anything else as JSON, nothing as ''. */
export function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : canonicalJson(finite(value));
}

/** JSON has no NaN and no Infinity; within a text their names stand for them. */
function finite(value: Json): Json {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map(finite);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, finite(inside)]));
}

function first(...candidates: readonly (readonly Message[])[]): readonly Message[] {
  return candidates.find((messages) => messages.length > 0) ?? [];
}

function messagesAt(attributes: Attributes, name: string): Message[] {
  return entriesUnder(attributes, name).map((entry) =>
    messageOf(entry, name.endsWith('put_messages') ? 'message' : null),
  );
}

/** OpenInference wraps each message, each part and each call into an object of its own name; GenAI does not. */
function messageOf(entry: Json, wrapper: string | null): Message {
  const inside = wrapper ? field(entry, wrapper) : null;
  const message = inside ?? entry;
  if (typeof message === 'string') return { role: 'user', content: message, reasoning: '', calls: [] };
  const listed = [field(message, 'parts'), field(message, 'contents'), field(message, 'content')].find(Array.isArray);
  const parts = ((listed ?? []) as readonly Json[]).map((part) => field(part, 'message_content') ?? part);
  const ofType = (...types: string[]) => parts.filter((part) => types.includes(textOf(field(part, 'type'))));
  const content = listed
    ? parts.map(contentOfPart).filter((text): text is string => text !== null)
    : [textOf(field(message, 'content'))];
  const reasoning = [...ofType('reasoning', 'thinking').map(contentField), textOf(field(message, 'reasoning_content'))];
  const called = parsed(field(message, 'tool_calls'));
  const calls = [...ofType('tool_call'), ...(Array.isArray(called) ? (called as readonly Json[]) : [])].map(callOf);
  return {
    role: textOf(field(message, 'role')) || 'user',
    content: content.join('\n'),
    reasoning: reasoning.filter((text) => text !== '').join('\n'),
    calls,
  };
}

/** What a part says; null for a call and a thought, which are no content. Images and files stand as JSON. */
function contentOfPart(part: Json): string | null {
  switch (textOf(field(part, 'type'))) {
    case 'tool_call':
    case 'reasoning':
    case 'thinking':
      return null;
    case 'tool_call_response':
      return textOf(field(part, 'response') ?? field(part, 'result'));
    case 'text':
    case '':
      return typeof part === 'string' ? part : contentField(part);
    default:
      return textOf(part);
  }
}

const contentField = (part: Json) => textOf(field(part, 'content') ?? field(part, 'text') ?? field(part, 'thinking'));

function callOf(call: Json): ToolCall {
  const inside = field(call, 'tool_call') ?? call;
  const called = field(inside, 'function') ?? inside;
  return { name: textOf(field(called, 'name')), arguments: field(called, 'arguments') };
}

/** OpenInference's completion APIs: texts without roles. */
function promptsOf(attributes: Attributes): Message[] {
  return entriesUnder(attributes, 'llm.prompts').map((entry) => plain('user', textOf(field(entry, 'prompt', 'text'))));
}

function choicesOf(attributes: Attributes): Message[] {
  return entriesUnder(attributes, 'llm.choices').map((entry) =>
    plain('assistant', textOf(field(entry, 'completion', 'text'))),
  );
}

/** gen_ai.user.message and its like (semantic conventions before 1.37). */
function toldInEvent({ name, attributes }: Span['events'][number]): Message[] {
  const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)?.[1];
  if (!role) return [];
  return [messageOf({ role, ...Object.fromEntries(attributes) }, null)];
}

function chosenInEvent({ name, attributes }: Span['events'][number]): Message[] {
  if (name !== 'gen_ai.choice') return [];
  const message = parsed(attributes.get('message') ?? null);
  const said = message === null || typeof message === 'string' ? { content: message } : message;
  return [messageOf({ role: 'assistant', ...Object.fromEntries(attributes), ...(said as object) }, null)];
}

function spokenValue(value: Json | undefined, role: string): Message[] {
  return value === undefined || value === null ? [] : [plain(role, textOf(value))];
}

const plain = (role: string, content: string): Message => ({ role, content, reasoning: '', calls: [] });

/** What a model wrote wrongly stays as it wrote it. */
function sortedJson(value: Json): string {
  const said = parsed(value);
  return typeof said === 'string' ? said : canonicalJson(finite(said ?? {}));
}
