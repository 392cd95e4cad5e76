const LENGTH = 160;

/** How a text begins; of chat messages, how the last one does. */
export function excerptOf(text: string): string {
  return begun(lastMessage(text) ?? text);
}

function lastMessage(text: string): string | null {
  if (!text.startsWith('[') && !text.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    const content: unknown = (Array.isArray(value) ? value.at(-1) : value)?.content;
    return typeof content === 'string' ? content : null;
  } catch {
    return null; // a text that only looks like JSON
  }
}

/** Never ends in half a character. */
function begun(text: string): string {
  if (text.length <= LENGTH) return text;
  return `${text.slice(0, LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
