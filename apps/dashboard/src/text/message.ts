/** One message of what the agent saw; a state that is plain text is one without a role. */
export interface Message {
  readonly role: string | null;
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

/** What the agent asked of a tool. */
export interface ToolCall {
  readonly name: string;
  /** as JSON, indented where it is some */
  readonly input: string;
}

/** A state or action as messages: chat messages arrive as JSON, anything else is text. */
export function messagesOf(text: string): Message[] {
  const messages = text.startsWith('[') || text.startsWith('{') ? parsed(text) : null;
  return messages ?? [{ role: null, text, calls: [] }];
}

function parsed(text: string): Message[] | null {
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : [value];
    return list.length > 0 && list.every(isMessage) ? list.map(messageOf) : null;
  } catch {
    return null;
  }
}

function isMessage(value: unknown): value is { role: string; content?: unknown } {
  return typeof value === 'object' && value !== null && typeof (value as { role?: unknown }).role === 'string';
}

/** What is neither text nor a tool call in it, such as images, is shown as the JSON it is. */
function messageOf({ role, content, ...rest }: { role: string; content?: unknown }): Message {
  const { tool_calls: toolCalls, ...more } = rest as { tool_calls?: unknown };
  const pieces = [...listOf(content), ...listOf(toolCalls)].map(partOf);
  const texts = pieces.filter((piece) => typeof piece === 'string' && piece !== '') as string[];
  if (Object.keys(more).length > 0) texts.push(json(more));
  return { role, text: texts.join('\n'), calls: pieces.filter((piece) => typeof piece !== 'string') };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const json = (value: unknown) => JSON.stringify(value, null, 2);

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
}

/** A piece of a message, in the shapes of OpenAI (`function`) and Anthropic (`tool_use`). */
function partOf(part: unknown): string | ToolCall {
  if (part == null) return '';
  if (typeof part === 'string') return part;
  const { type, text, name, input, function: called } = part as Part;
  if (type === 'text' && typeof text === 'string') return text;
  if (typeof called?.name === 'string') return { name: called.name, input: inputText(called.arguments) };
  if (type === 'tool_use' && typeof name === 'string') return { name, input: inputText(input) };
  return json(part);
}

/** Arguments come as an object, or as a text that holds one. */
function inputText(input: unknown): string {
  if (typeof input !== 'string') return json(input ?? {});
  try {
    return json(JSON.parse(input));
  } catch {
    return input;
  }
}
