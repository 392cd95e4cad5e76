import { isPlaced } from './placement.js';
import type { Span } from './span.js';
import { kindOf, type SpanKind } from './span-kind.js';

/** A span in its tree. */
export interface Member {
  readonly span: Span;
  readonly kind: SpanKind;
  /** an inference within another one says the same again */
  readonly withinLlm: boolean;
  /** of the agent around it; '': none that has one */
  readonly agent: string;
}

/** The spans of one trajectory. */
export interface Tree {
  readonly root: Span;
  readonly members: readonly Member[];
}

/** Spans that are no part of any trajectory, and why. */
export interface Refusal {
  readonly spans: readonly Span[];
  readonly why: string;
}

/** Why spans whose root is elsewhere are refused; their trace is remembered. */
export const APART = 'their parent is not in this export: send a trace whole';

const ID = { trace: /^(?!0+$)[0-9a-f]{32}$/, span: /^(?!0+$)[0-9a-f]{16}$/ };

/**
 * The trajectories among the spans of an export. A tree hangs on a span without a parent, or with a parent in another
 * process. It is one trajectory, unless spans below its root say themselves where they belong: then the topmost of them
 * are one each. Looked at from the roots, each span once, so neither circles nor deep chains hurt.
 */
export function treesOf(spans: readonly Span[]): { trees: Tree[]; refusals: Refusal[] } {
  const valid = spans.filter(isValid);
  const byId = new Map<string, Span>();
  for (const span of valid) if (!byId.has(keyOf(span, span.spanId))) byId.set(keyOf(span, span.spanId), span);
  const once = [...byId.values()];
  const parentOf = (span: Span) => byId.get(keyOf(span, span.parentSpanId));
  const isRoot = (span: Span) => !parentOf(span) && (!ID.span.test(span.parentSpanId) || span.remoteParent);
  const children = Map.groupBy(
    once.filter((span) => parentOf(span)),
    (span) => keyOf(span, span.parentSpanId),
  );

  const trees: Tree[] = [];
  const outside: Span[] = [];
  const reached = new Set<Span>();
  for (const root of once.filter(isRoot)) {
    const found = walk(root, children);
    for (const { member } of found) reached.add(member.span);
    const begun = Map.groupBy(found, ({ begins }) => begins);
    const loose = begun.get(null) ?? [];
    if (begun.size === 1 && loose.length > 0) {
      trees.push({ root, members: loose.map(({ member }) => member) });
      continue;
    }
    outside.push(...loose.filter(({ member }) => member.kind !== 'other').map(({ member }) => member.span));
    for (const [begins, parts] of begun) {
      if (begins) trees.push({ root: begins, members: parts.map(({ member }) => member) });
    }
  }
  const known = new Set(once);
  const refusals: Refusal[] = [
    { spans: spans.filter((span) => !isValid(span)), why: 'their trace id or span id is none' },
    { spans: valid.filter((span) => !known.has(span)), why: 'their span id came twice in this export' },
    { spans: once.filter((span) => !reached.has(span)), why: APART },
    { spans: outside, why: 'they stand outside of the spans that say where they belong' },
  ];
  return { trees, refusals: refusals.filter((refusal) => refusal.spans.length > 0) };
}

interface Found {
  readonly member: Member;
  /** the root of its trajectory; null: none so far up */
  readonly begins: Span | null;
}

function walk(root: Span, children: ReadonlyMap<string, readonly Span[]>): Found[] {
  const found: Found[] = [];
  const waiting: (readonly [span: Span, above: Found | null])[] = [[root, null]];
  for (const [span, above] of waiting) {
    const kind = kindOf(span);
    const withinLlm = above !== null && (above.member.withinLlm || above.member.kind === 'llm');
    const agent = (kind === 'agent' && agentName(span)) || above?.member.agent || '';
    const begins = above?.begins ?? (isPlaced(span) ? span : null);
    const here: Found = { member: { span, kind, withinLlm, agent }, begins };
    found.push(here);
    for (const child of children.get(keyOf(span, span.spanId)) ?? []) waiting.push([child, here]);
  }
  return found;
}

function agentName({ attributes }: Span): string {
  const name = attributes.get('gen_ai.agent.name') ?? attributes.get('agent.name');
  return typeof name === 'string' ? name : '';
}

const keyOf = ({ traceId }: Span, spanId: string) => `${traceId}-${spanId}`;

const isValid = ({ traceId, spanId }: Span) => ID.trace.test(traceId) && ID.span.test(spanId);
