import { canonicalJson } from '#lib/kernel';
import type { Signals, Turn } from '#lib/protocol';
import { z } from 'zod';
import { contentOf } from './chat.js';
import { digestOf, nameOf, said } from './identity.js';
import { defineImporter } from './importer.js';
import { scalarSignals, successOf } from './outcome.js';
import { readerOf } from './say.js';

const Numbers = z.array(z.number().nullable()).nullish();

const Step = z.looseObject({
  step_id: z.int().optional(),
  source: z.enum(['user', 'agent', 'system']),
  message: z.unknown().optional(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(z.looseObject({ function_name: z.string(), arguments: z.unknown().optional() })).nullish(),
  observation: z.looseObject({ results: z.array(z.looseObject({ content: z.unknown().optional() })) }).nullish(),
  metrics: z.looseObject({ completion_token_ids: Numbers, logprobs: Numbers }).nullish(),
});

const Trajectory = z.looseObject({
  schema_version: z.string().startsWith('ATIF-'),
  session_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  agent: z.looseObject({ name: z.string().nullish(), model_name: z.string().nullish() }).nullish(),
  steps: z.array(Step),
  final_metrics: z.looseObject({ extra: z.record(z.string(), z.unknown()).nullish() }).nullish(),
  extra: z.record(z.string(), z.unknown()).nullish(),
});

type Step = z.infer<typeof Step>;
type Trajectory = z.infer<typeof Trajectory>;

export const atif = defineImporter({
  id: 'atif',
  title: 'ATIF trajectories',
  description:
    'The Agent Trajectory Interchange Format, one document or one line per trajectory. It has no reward and no task: settings name the fields of extra that hold them, else the first message of the user is the group.',
  settings: z.strictObject({
    group: z.string().min(1).default('task_id').describe('the field of extra that names the task'),
    reward: z.string().min(1).default('reward').describe('the field of extra that holds the reward'),
    step: z.string().min(1).default('training_step').describe('the field of extra that holds the training step'),
  }),
  recognizes: ({ first }) =>
    typeof first.schema_version === 'string' && first.schema_version.startsWith('ATIF-')
      ? `its schema_version is ${first.schema_version}`
      : null,
  reader: (settings) => readerOf(Trajectory, (trajectory) => [{ trajectory: trajectoryOf(trajectory, settings) }]),
});

function trajectoryOf(record: Trajectory, settings: { group: string; reward: string; step: string }) {
  const { steps, session_id, trajectory_id, agent, ...source } = record;
  const extra = { ...record.final_metrics?.extra, ...record.extra };
  const { turns, finalState, system, prompt } = turnsOf(steps);
  const task = extra[settings.group];
  const reward = extra[settings.reward];
  const step = extra[settings.step];
  const outcome = typeof reward === 'number' ? reward : undefined;
  return said({
    id: nameOf(trajectory_id ?? session_id ?? digestOf(record, 12)),
    group: typeof task === 'string' || typeof task === 'number' ? nameOf(task) : `prompt-${digestOf(prompt, 12)}`,
    trainingStep: typeof step === 'number' && Number.isInteger(step) && step >= 0 ? step : 0,
    outcomeReward: outcome,
    success: successOf(outcome),
    signals: said({
      ...scalarSignals(record.final_metrics ?? {}),
      agent: agent?.name ?? undefined,
      policy: agent?.model_name ?? undefined,
      finalState,
    }) as Signals,
    turns,
    prompt: system === '' ? undefined : system,
    source: { ...source, agent },
  });
}

/** A step of the agent is a turn; what it observed is in it, and is the state of the next one. */
function turnsOf(steps: readonly Step[]) {
  const turns: Turn[] = [];
  let heard: string[] = [];
  let prompt: string | null = null;
  const system: string[] = [];
  for (const step of steps) {
    const text = contentOf({ role: step.source, content: step.message });
    if (step.source === 'system' && turns.length === 0) system.push(text);
    else if (step.source !== 'agent') heard.push(`${step.source}:${text}`);
    if (step.source === 'user') prompt ??= text;
    if (step.source === 'agent') {
      turns.push(turnOf(step, heard.join('\n'), text));
      heard = [];
    }
    for (const { content } of step.observation?.results ?? []) {
      heard.push(`tool:${contentOf({ role: 'tool', content })}`);
    }
  }
  const finalState = turns.length > 0 && heard.length > 0 ? heard.join('\n') : undefined;
  return { turns, finalState, system: system.join('\n'), prompt: prompt ?? '' };
}

function turnOf(step: Step, state: string, text: string): Turn {
  const calls = step.tool_calls ?? [];
  const thought = [step.reasoning_content ?? '', calls.length > 0 ? text : ''].filter((each) => each.trim() !== '');
  const ids = step.metrics?.completion_token_ids ?? [];
  const logprobs = step.metrics?.logprobs ?? [];
  return said({
    state,
    action:
      calls.length > 0
        ? calls.map((call) => call.function_name + canonicalJson(call.arguments ?? {})).join('\n')
        : `respond:${text}`,
    signals: thought.length > 0 ? { thought: thought.join('\n') } : undefined,
    tokens:
      logprobs.length > 0
        ? { rolloutLogprob: logprobs, ...(ids.length === logprobs.length ? { tokenId: ids } : {}) }
        : undefined,
  }) as Turn;
}
