import { canonicalJson } from '#lib/kernel';
import type { Signals, TrajectoryRecord } from '#lib/protocol';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { actionOf, ChatMessage, spoken, toolCallCount } from './chat.js';
import { hasFields } from './glimpse.js';
import { said } from './identity.js';
import { defineImporter } from './importer.js';
import { readElements } from './read-records.js';
import { readerOf } from './say.js';

const RewardInfo = z.looseObject({
  info: z.looseObject({ r_actions: z.number().optional(), r_outputs: z.number().optional() }).nullish(),
});

const Episode = z.looseObject({
  task_id: z.union([z.int(), z.string()]),
  trial: z.int(),
  reward: z.number(),
  traj: z.array(ChatMessage),
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

export const tauBench = defineImporter({
  id: 'tau-bench',
  title: 'tau-bench historical trajectories',
  description:
    'One JSON array of episodes (sierra-research/tau-bench); the group is the task, a trajectory is one trial of it.',
  recognizes: (glimpse) => hasFields(glimpse, ['task_id', 'trial', 'traj', 'reward']),
  reader: () =>
    readerOf(
      Episode,
      (episode) => [{ trajectory: trajectoryOf(episode) }],
      (file) => readElements(file, null),
    ),
});

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
    toolCalls: toolCallCount(traj),
    finalState: traj.length > 0 && traj.at(-1)!.role !== 'assistant' ? stateAt(traj, traj.length) : undefined,
    actionsCorrect: checked?.r_actions,
    outputsCorrect: checked?.r_outputs,
    // Without a verdict it ran into the step limit, unless it crashed.
    truncated: info.reward_info === null && info.error === undefined ? true : undefined,
    error: info.error ?? (traj.length === 0 ? 'no message' : undefined),
    traceback: info.traceback,
  };
  return said(signals) as Signals;
}

function stateAt(traj: readonly ChatMessage[], i: number): string {
  const before = traj[i - 1];
  return before ? spoken(before) : '';
}
