/** One message of what the agent saw; a state that is plain text is one without a role. */
export interface Message {
  readonly role: string | null;
  readonly text: string;
}

/** A state or action as messages: chat messages arrive as JSON, anything else is text. */
export function messagesOf(text: string): Message[] {
  const messages = text.startsWith('[') || text.startsWith('{') ? parsed(text) : null;
  return messages ?? [{ role: null, text }];
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

/** What is no text in it (tool calls, images) is shown as the JSON it is. */
function messageOf({ role, content, ...rest }: { role: string; content?: unknown }): Message {
  const said = typeof content === 'string' ? content : content == null ? '' : JSON.stringify(content, null, 2);
  const more = Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : '';
  return { role, text: [said, more].filter((part) => part !== '').join('\n') };
}
