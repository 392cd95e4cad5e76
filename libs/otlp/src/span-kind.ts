import type { Span } from './span.js';

/** What a span means to a trajectory. */
export type SpanKind = 'llm' | 'tool' | 'agent' | 'other';

const OPERATIONS: ReadonlyMap<unknown, SpanKind> = new Map([
  ['chat', 'llm'],
  ['generate_content', 'llm'],
  ['text_completion', 'llm'],
  ['execute_tool', 'tool'],
  ['invoke_agent', 'agent'],
  ['invoke_workflow', 'agent'],
]);

const OPENINFERENCE: ReadonlyMap<unknown, SpanKind> = new Map([
  ['LLM', 'llm'],
  ['TOOL', 'tool'],
  ['AGENT', 'agent'],
]);

/**
 * By `gen_ai.operation.name` (GenAI semantic conventions) or `openinference.span.kind` (OpenInference). A span with
 * messages or a requested model and neither of them is of an older GenAI instrumentation: an inference.
 */
export function kindOf({ attributes }: Span): SpanKind {
  const operation = attributes.get('gen_ai.operation.name');
  if (operation !== undefined) return OPERATIONS.get(operation) ?? 'other';
  const kind = attributes.get('openinference.span.kind');
  if (kind !== undefined) return OPENINFERENCE.get(typeof kind === 'string' ? kind.toUpperCase() : kind) ?? 'other';
  return attributes.has('gen_ai.request.model') ? 'llm' : 'other';
}
