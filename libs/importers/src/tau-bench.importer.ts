import { canonicalJson } from '#lib/kernel';
import type { Signals, TrajectoryRecord } from '#lib/protocol';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Importer, Parsed, SourceFile } from './importer.js';
import { valueOf } from './piece.js';
import { splitElements } from './split-elements.js';

const ToolCall = z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.unknown() }) });

const Message = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(ToolCall).nullish(),
});

const RewardInfo = z.looseObject({
  info: z.looseObject({ r_actions: z.number().optional(), r_outputs: z.number().optional() }).nullish(),
});

const Episode = z.looseObject({
  task_id: z.union([z.int(), z.string()]),
  trial: z.int(),
  reward: z.number(),
  traj: z.array(Message),
  info: z.looseObject({
    task: z.looseObject({ user_id: z.string().optional() }).optional(),
    source: z.string().optional(),
    user_cost: z.number().nullish(),
    reward_info: RewardInfo.nullish(),
    error: z.string().optional(),
    traceback: z.string().optional(),
  }),
});

type Episode = z.infer<typeof Episode>;
type Message = z.infer<typeof Message>;

export const tauBench: Importer = {
  id: 'tau-bench',
  title: 'tau-bench historical trajectories',
  description:
    'One JSON array of episodes (sierra-research/tau-bench); the group is the task, a trajectory is one trial of it.',
  read: readEpisodes,
};

async function* readEpisodes({ path, bytes }: SourceFile): AsyncGenerator<Parsed> {
  const pieces = splitElements(bytes, null);
  for (;;) {
    const { done, value: piece } = await pieces.next();
    if (done) {
      if (piece !== null) yield { kind: 'skipped', where: path, why: piece };
      return;
    }
    const where = `${path}[${piece.number}]`;
    const read = valueOf(piece);
    const episode = 'why' in read ? null : Episode.safeParse(read.value);
    if ('why' in read) yield { kind: 'skipped', where, why: read.why };
    else if (episode?.success)
      yield { kind: 'trajectory', where, raw: piece.bytes!, trajectory: trajectoryOf(episode.data) };
    else yield { kind: 'skipped', where, why: z.prettifyError(episode!.error).replaceAll('\n', ' ') };
  }
}

/**
 * An episode as a trajectory: every assistant message is a turn, what stands just before it is its state. The id says
 * task and trial, and by a hash of the content keeps the trials of two policies apart.
 */
export function trajectoryOf(episode: Episode): TrajectoryRecord {
  const { task_id, trial, reward, traj, info } = episode;
  const turns = traj.flatMap((message, i) =>
    message.role === 'assistant' ? [{ state: stateAt(traj, i), action: actionOf(message), reward: 0 }] : [],
  );
  const last = turns.at(-1);
  if (last) last.reward = reward;
  const digest = createHash('sha256').update(canonicalJson(episode)).digest('hex').slice(0, 8);
  const record = {
    id: `task-${task_id}-trial-${trial}-${digest}`,
    group: String(task_id),
    trainingStep: 0,
    outcomeReward: reward,
    success: reward === 1,
    signals: signalsOf(episode),
    turns,
    // kept beside what estimators read: what the agent was told, and what it was measured by
    prompt: traj.find((message) => message.role === 'system')?.content,
    task: info.task,
    rewardInfo: info.reward_info,
  };
  return record;
}

function signalsOf({ trial, traj, info }: Episode): Signals {
  const checked = info.reward_info?.info;
  const signals = {
    dataset: 'tau-bench',
    trial,
    userId: info.task?.user_id,
    source: info.source,
    userCost: info.user_cost,
    toolCalls: traj.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0),
    finalState: traj.length > 0 && traj.at(-1)!.role !== 'assistant' ? stateAt(traj, traj.length) : undefined,
    actionsCorrect: checked?.r_actions,
    outputsCorrect: checked?.r_outputs,
    // Without a verdict it ran into the step limit, unless it crashed.
    truncated: info.reward_info === null && info.error === undefined ? true : undefined,
    error: info.error ?? (traj.length === 0 ? 'no message' : undefined),
    traceback: info.traceback,
  };
  return Object.fromEntries(Object.entries(signals).filter(([, value]) => value !== undefined)) as Signals;
}

function stateAt(traj: readonly Message[], i: number): string {
  const before = traj[i - 1];
  return before ? `${before.role}:${contentOf(before)}` : '';
}

function actionOf(message: Message): string {
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return `respond:${contentOf(message)}`;
  return calls.map((call) => call.function.name + sortedJson(call.function.arguments)).join('\n');
}

function contentOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content === null || content === undefined ? '' : canonicalJson(content);
}

/** Arguments come as JSON text; what a model wrote wrongly stays as it wrote it. */
function sortedJson(value: unknown): string {
  if (typeof value !== 'string') return canonicalJson(value ?? {});
  try {
    return canonicalJson(JSON.parse(value));
  } catch {
    return value;
  }
}
