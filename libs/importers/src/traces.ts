import type { Signals, TokenColumns, Turn } from '#lib/protocol';
import { z } from 'zod';
import { actionOf, ChatMessage, spoken, ToolCall } from './chat.js';
import { digestOf, nameOf, said } from './identity.js';
import { scalarSignals, successOf } from './outcome.js';
import type { Said } from './say.js';
import { spanTokens, spansOf } from './token-spans.js';

const Numbers = z.array(z.number().nullable()).nullish();

const FlatCall = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });

/** Calls come as the usual APIs have them, flat, or as the JSON text of either. */
export const LooseMessage = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(z.unknown()).nullish(),
});

const Node = z.looseObject({
  parent: z.int().nullish(),
  message: LooseMessage,
  sampled: z.boolean().nullish(),
  token_ids: z.array(z.int()).nullish(),
  mask: z.array(z.boolean()).nullish(),
  logprobs: Numbers,
  advantages: Numbers,
  reference_logprobs: Numbers,
  trainer_logprobs: Numbers,
  entropies: Numbers,
});

const Trace = z.looseObject({
  id: z.string(),
  nodes: z.array(Node),
  rewards: z
    .record(z.string(), z.looseObject({ score: z.number(), weight: z.number().nullish() }).nullable())
    .nullish(),
  metrics: z.record(z.string(), z.number().nullable()).nullish(),
  agent: z.looseObject({ name: z.string().nullish() }).nullish(),
  stop_condition: z.string().nullish(),
  is_truncated: z.boolean().nullish(),
});

export const TraceEpisode = z.looseObject({
  id: z.string(),
  env: z.looseObject({ id: z.string().nullish(), name: z.string().nullish() }).nullish(),
  task: z.looseObject({ key: z.string().nullish(), hash: z.string().nullish() }),
  group: z.looseObject({ id: z.string() }).nullish(),
  run: z
    .looseObject({
      work: z
        .looseObject({
          type: z.string().nullish(),
          step: z.int().nonnegative().nullish(),
          policy: z.looseObject({ start: z.int().nullish(), end: z.int().nullish() }).nullish(),
        })
        .nullish(),
    })
    .nullish(),
  traces: z.array(Trace),
});

type Node = z.infer<typeof Node>;
type Trace = z.infer<typeof Trace>;
export type TraceEpisode = z.infer<typeof TraceEpisode>;

/**
 * The traces of one episode. A trace is a tree of messages: its first leaf is a trajectory, every further leaf one that
 * branches off the trajectory with which it shares most. Agents of one episode are groups of their own.
 */
export function* traceTrajectories(episode: TraceEpisode, trainingStep: number): Iterable<Said> {
  const { traces, ...shared } = episode;
  const task = episode.group?.id ?? episode.task.key ?? episode.task.hash ?? digestOf(episode.task, 12);
  const names = new Set(traces.map(({ agent }) => agent?.name ?? ''));
  for (const trace of traces) {
    const orphan = trace.nodes.findIndex(({ parent }, i) => typeof parent === 'number' && (parent < 0 || parent >= i));
    if (orphan >= 0) {
      yield { skipped: `trace ${trace.id}: the parent of node ${orphan} is no node before it` };
      continue;
    }
    const group = nameOf(names.size > 1 ? `${task}:${trace.agent?.name ?? ''}` : task);
    yield* branchesOf(trace).map((branch, i) => ({
      trajectory: trajectoryOf(trace, branch, i, { group, trainingStep, shared: i === 0 ? shared : null, episode }),
    }));
  }
}

interface Branch {
  readonly nodes: readonly number[];
  /** which branch it leaves, and with how many nodes in common; null: the first one */
  readonly from: { readonly branch: number; readonly shared: number } | null;
}

function branchesOf({ nodes }: Trace): Branch[] {
  const parents = new Set(nodes.map(({ parent }) => parent));
  const leaves = nodes.flatMap((_, i) => (parents.has(i) ? [] : [i]));
  const branches: Branch[] = [];
  const firstWith = new Map<number, number>();
  for (const leaf of leaves) {
    const path: number[] = [];
    for (let at: number | null | undefined = leaf; typeof at === 'number'; at = nodes[at].parent) path.unshift(at);
    const shared = path.findLastIndex((node) => firstWith.has(node)) + 1;
    const from = shared > 0 ? firstWith.get(path[shared - 1])! : 0;
    const at = branches.length;
    branches.push({ nodes: path, from: at === 0 ? null : { branch: from, shared } });
    for (const node of path) if (!firstWith.has(node)) firstWith.set(node, at);
  }
  return branches;
}

interface Around {
  readonly group: string;
  readonly trainingStep: number;
  readonly shared: object | null;
  readonly episode: TraceEpisode;
}

function trajectoryOf(trace: Trace, { nodes, from }: Branch, index: number, around: Around) {
  const { group, trainingStep, shared, episode } = around;
  const path = nodes.map((node) => trace.nodes[node]);
  const rewards = Object.entries(trace.rewards ?? {}).flatMap(([name, given]) =>
    given ? [{ name, value: given.score * (given.weight ?? 1), score: given.score }] : [],
  );
  const outcome = rewards.length === 0 ? null : rewards.reduce((sum, { value }) => sum + value, 0);
  const idOf = (branch: number) => nameOf(branch === 0 ? trace.id : `${trace.id}-${branch}`);
  const { nodes: _nodes, rewards: _rewards, metrics: _metrics, ...rest } = trace;
  return said({
    id: idOf(index),
    group,
    trainingStep,
    parent: from
      ? {
          trajectory: idOf(from.branch),
          turn: path.slice(0, from.shared).filter(({ sampled }) => sampled === true).length - 1,
        }
      : undefined,
    outcomeReward: outcome,
    success: successOf(outcome),
    signals: said({
      ...scalarSignals(trace.metrics ?? {}),
      ...Object.fromEntries(rewards.map(({ name, score }) => [`reward.${name}`.slice(0, 128), score])),
      dataset: episode.env?.id ?? undefined,
      agent: trace.agent?.name ?? undefined,
      ended: trace.stop_condition ?? undefined,
      truncated: trace.is_truncated ?? undefined,
      policyStart: episode.run?.work?.policy?.start ?? undefined,
      policyEnd: episode.run?.work?.policy?.end ?? undefined,
    }) as Signals,
    turns: turnsOf(path),
    source: shared ? { ...shared, trace: rest } : undefined,
  });
}

/** A turn is a message that the policy sampled; its state is all that stands between it and the one before. */
function turnsOf(path: readonly Node[]): Turn[] {
  const turns: Turn[] = [];
  let heard: ChatMessage[] = [];
  for (const node of path) {
    const message = chatMessage(node.message);
    if (node.sampled !== true) {
      if (turns.length > 0 || message.role !== 'system') heard.push(message);
      continue;
    }
    const tokens = tokensOf(node);
    turns.push({
      state: heard.map(spoken).join('\n'),
      action: actionOf(message),
      ...(tokens ? { tokens } : {}),
    });
    heard = [];
  }
  return turns;
}

/** The columns hold the sampled tokens alone; the ids hold the template's as well. */
function tokensOf(node: Node): TokenColumns | null {
  const ids = node.token_ids ?? [];
  const mask = node.mask ?? ids.map(() => true);
  const sampled = spanTokens({ tokenId: ids }, spansOf(mask, Boolean)).tokenId ?? [];
  const columns = Object.entries({
    rolloutLogprob: node.logprobs,
    loggedAdvantage: node.advantages,
    refLogprob: node.reference_logprobs,
    logprob: node.trainer_logprobs,
    entropy: node.entropies,
  }).filter((entry): entry is [string, (number | null)[]] => entry[1]?.length === sampled.length);
  if (sampled.length === 0) return null;
  return { tokenId: sampled, ...Object.fromEntries(columns) };
}

export function chatMessage(message: z.infer<typeof LooseMessage>): ChatMessage {
  const calls = (message.tool_calls ?? []).flatMap((call) => {
    const read = typeof call === 'string' ? jsonOf(call) : call;
    const nested = ToolCall.safeParse(read);
    if (nested.success) return [nested.data];
    const flat = FlatCall.safeParse(read);
    return flat.success ? [{ function: { name: flat.data.name, arguments: flat.data.arguments } }] : [];
  });
  return { ...message, tool_calls: calls };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
