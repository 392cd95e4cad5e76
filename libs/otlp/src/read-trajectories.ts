import { createHash } from 'node:crypto';
import { canonicalJson, messageOf, RecreditError } from '#lib/kernel';
import { actionOf, exchangeOf, spoken, textOf, type Exchange, type Message } from './messages.js';
import { ownSignals, placementOf, rewardOf } from './placement.js';
import type { Json, Span } from './span.js';
import { treesOf, type Member, type Refusal, type Tree } from './trees.js';

/** A trajectory as its spans tell it. */
export interface TracedTrajectory {
  /** null: not said */
  readonly project: string | null;
  readonly run: string;
  /** made of the ids of its trace and of its root span */
  readonly id: string;
  readonly spans: readonly Span[];
  /** `trajectory.recorded`, not checked yet; the same spans make the same event */
  readonly event: Readonly<Record<string, unknown>>;
}

/**
 * What an export says in trajectories: each inference span is a turn, in the order in which they began; tools that ran
 * before the next inference belong to the turn that came before them. Spans of other kinds hold the tree together.
 */
export function readTrajectories(spans: readonly Span[]): { trajectories: TracedTrajectory[]; refusals: Refusal[] } {
  const { trees, refusals } = treesOf(spans);
  const trajectories: TracedTrajectory[] = [];
  for (const tree of trees) {
    const members = tree.members.map(({ span }) => span);
    try {
      const { project, run, ...event } = trajectoryOf(tree);
      trajectories.push({ project, run, id: event.id, spans: members, event });
    } catch (error) {
      if (!(error instanceof RecreditError)) throw error;
      refusals.push({ spans: members, why: messageOf(error) });
    }
  }
  return { trajectories, refusals };
}

interface Step {
  readonly llm: Member;
  readonly exchange: Exchange;
  readonly tools: readonly Span[];
}

function trajectoryOf({ root, members }: Tree) {
  const steps = stepsOf(members);
  if (steps.length === 0) throw new RecreditError('request.invalid', 'no inference span is among them');
  const { project, run, group, trainingStep, outcomeReward, success } = placementOf(root);
  const id = `${root.traceId}-${root.spanId}`;
  const began = steps[0].exchange.input.length > 0 ? steps[0].exchange.input : exchangeOf(root).input;
  const prompt = began.filter(isTold).map(spoken);
  const finalTools = steps.at(-1)!.tools;
  return {
    project,
    run,
    type: 'trajectory.recorded',
    at: instantOf(root.end || root.start),
    id,
    group: group ?? (prompt.length > 0 ? `prompt-${digestOf(prompt)}` : id),
    trainingStep,
    ...said({
      outcomeReward,
      success,
      signals: said({
        ...Object.fromEntries(ownSignals(root)),
        agent: members.find(({ span }) => span === root)?.agent || undefined,
        conversation:
          textOf(root.attributes.get('gen_ai.conversation.id') ?? root.attributes.get('session.id')) || undefined,
        toolCalls: members.filter(({ kind }) => kind === 'tool').length,
        failure: root.failure ?? undefined,
        finalState: finalTools.length > 0 ? finalTools.map(heardFrom).join('\n') : undefined,
      }),
    }),
    turns: steps.map((step, i) => turnOf(step, i === 0 ? prompt : steps[i - 1].tools.map(heardFrom), i === 0)),
  };
}

function stepsOf(members: readonly Member[]): Step[] {
  const inOrder = members.toSorted((a, b) => order(a.span, b.span));
  const llms = inOrder.filter(({ kind, withinLlm }) => kind === 'llm' && !withinLlm);
  const tools = inOrder.filter(({ kind }) => kind === 'tool').map(({ span }) => span);
  return llms.map((llm, i) => {
    const next = llms.at(i + 1)?.span;
    const own = tools.filter((tool) => (i === 0 || order(tool, llm.span) >= 0) && (!next || order(tool, next) < 0));
    return { llm, exchange: exchangeOf(llm.span), tools: own };
  });
}

/** By when they began, then by id, so that the order never depends on that of the export. */
function order(a: Span, b: Span): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.spanId < b.spanId ? -1 : Number(a.spanId !== b.spanId);
}

/** @param heard what is known from elsewhere, where the span holds no messages */
function turnOf({ llm, exchange, tools }: Step, heard: readonly string[], isFirst: boolean) {
  const { span } = llm;
  const told = since(exchange.input, isFirst);
  const state = told.length > 0 ? told.map(spoken) : heard;
  const answer = answerOf(exchange.output, Number(span.attributes.get('gen_ai.request.choice.count') ?? 1));
  const calls = tools.map((tool) => ({ name: toolName(tool), arguments: toolArguments(tool) }));
  const isEmpty = !answer || (answer.content === '' && answer.calls.length === 0);
  const action = isEmpty && calls.length > 0 ? actionOf({ content: '', calls }) : answer && actionOf(answer);
  const failures = tools.filter(({ failure }) => failure !== null).length;
  const attribute = (...names: readonly string[]) => {
    const value = names.map((name) => span.attributes.get(name)).find((found) => found !== undefined && found !== null);
    return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
  };
  return said({
    state: state.length > 0 ? state.join('\n') : undefined,
    action,
    reward: rewardOf(span),
    signals: said({
      ...Object.fromEntries(ownSignals(span)),
      thought: thoughtOf(answer) || undefined,
      agent: llm.agent || undefined,
      policy: attribute('gen_ai.response.model', 'gen_ai.request.model', 'llm.response.model_name', 'llm.model_name'),
      inputTokens: attribute('gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'),
      outputTokens: attribute(
        'gen_ai.usage.output_tokens',
        'gen_ai.usage.completion_tokens',
        'llm.token_count.completion',
      ),
      ended: endedOf(attribute('gen_ai.response.finish_reasons', 'llm.finish_reason')),
      latencyMs: span.end > span.start && span.start > 0n ? Number(span.end - span.start) / 1e6 : undefined,
      failure: span.failure ?? undefined,
      toolFailures: failures > 0 ? failures : undefined,
    }),
  });
}

/** What was said to the agent after its last answer. The first turn's span may show a whole conversation before it. */
function since(input: readonly Message[], isFirst: boolean): Message[] {
  const told = input.slice(
    isFirst ? 0 : input.findLastIndex(({ role }) => role === 'assistant' || role === 'model') + 1,
  );
  return told.filter(isTold);
}

const isTold = ({ role }: Message) => role !== 'system' && role !== 'developer';

/** Several messages are one answer in pieces, unless several answers were asked for: then the first one counts. */
function answerOf(output: readonly Message[], choices: number): Message | undefined {
  const pieces = choices > 1 ? output.slice(0, 1) : output;
  if (pieces.length === 0) return undefined;
  const joined = (of: (message: Message) => string) =>
    pieces
      .map(of)
      .filter((text) => text !== '')
      .join('\n');
  return {
    role: 'assistant',
    content: joined(({ content }) => content),
    reasoning: joined(({ reasoning }) => reasoning),
    calls: pieces.flatMap(({ calls }) => calls),
  };
}

/** What it thought, and what it wrote beside its calls. */
function thoughtOf(answer: Message | undefined): string {
  if (!answer) return '';
  const beside = answer.calls.length > 0 ? answer.content : '';
  return [answer.reasoning, beside].filter((text) => text.trim() !== '').join('\n');
}

const endedOf = (reasons: Json | undefined) => (Array.isArray(reasons) ? textOf(reasons[0] as Json) : reasons);

function toolName({ attributes, name }: Span): string {
  return textOf(attributes.get('gen_ai.tool.name') ?? attributes.get('tool.name')) || name;
}

function toolArguments({ attributes }: Span): Json {
  return (
    attributes.get('gen_ai.tool.call.arguments') ??
    attributes.get('tool.parameters') ??
    attributes.get('input.value') ??
    null
  );
}

function heardFrom({ attributes, failure }: Span): string {
  const result = attributes.get('gen_ai.tool.call.result') ?? attributes.get('output.value') ?? failure;
  return spoken({ role: 'tool', content: textOf(result) });
}

/** A record without what it does not say. */
function said<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

function digestOf(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 12);
}

/** RFC 3339 from nanoseconds since 1970; beyond the year 9999 nobody measured it. */
function instantOf(nanoseconds: bigint): string {
  const milliseconds = nanoseconds / 1_000_000n;
  return new Date(milliseconds >= 0n && milliseconds < 253_402_300_800_000n ? Number(milliseconds) : 0).toISOString();
}
