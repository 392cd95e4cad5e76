/** Observations that say nothing of where the agent is. */
const NOTHING = new Set(['', '[]', '{}', '""', 'null', 'none', 'n/a']);
const ERROR = /^[\W_]*(error|exception|traceback|failure|failed|invalid)\b/i;

/**
 * Whether a state is one that many unlike situations share: an empty one (`""`, `[]`, `{}`, `null`, `none`), or one that
 * begins with error, exception, traceback, failure, failed or invalid. Of chat messages the last one's content counts.
 */
export function isGenericState(state: string): boolean {
  const text = observationOf(state).trim();
  return NOTHING.has(text.toLowerCase()) || ERROR.test(text);
}

function observationOf(state: string): string {
  if (!state.startsWith('[{')) return state;
  try {
    const last = (JSON.parse(state) as unknown[]).at(-1);
    const content = last !== null && typeof last === 'object' && 'content' in last ? last.content : undefined;
    return typeof content === 'string'
      ? content
      : content === null || content === undefined
        ? ''
        : JSON.stringify(content);
  } catch {
    return state; // a text that only looks like messages
  }
}
