import type { Signals, TokenColumns, Turn } from '#lib/protocol';
import { z } from 'zod';
import { chatTurns, toolCallCount } from './chat.js';
import { hasFields } from './glimpse.js';
import { digestOf, nameOf, Occurrences, said } from './identity.js';
import { defineImporter, type SourceEvent } from './importer.js';
import { successOf } from './outcome.js';
import { readerOf, type Said } from './say.js';
import { chatMessage, LooseMessage } from './traces.js';

const Conversation = z.looseObject({ messages: z.array(LooseMessage) });

type Conversation = z.infer<typeof Conversation>;

const Logprobs = z.looseObject({ content: z.array(z.looseObject({ logprob: z.number() })).nullish() });

/** The format says nothing of these; people put them beside the messages under such names. */
const NAMES = {
  group: ['task_id', 'group_id', 'query_index', 'example_id', 'prompt_id'],
  rollout: ['trial', 'sample_index', 'rollout_index', 'rollout_id'],
  reward: ['reward', 'score', 'final_label'],
  step: ['step', 'training_step', 'global_step', 'iteration'],
  turnRewardsField: ['step_rewards'],
  processRewards: ['process_rewards'],
  labels: ['step_labels'],
} as const;

type Role = keyof typeof NAMES;

const field = (role: Role) =>
  z
    .string()
    .min(1)
    .optional()
    .describe(`the field that holds it; else ${NAMES[role].join(', ')}`);

export const openaiChat = defineImporter({
  id: 'openai-chat',
  title: 'OpenAI chat JSONL',
  description:
    'One conversation per line. Group, rollout, reward and training step come from fields beside the messages, by their usual names or those that settings give; without a group the first message of the user is it.',
  isGeneral: true,
  settings: z.strictObject({
    group: field('group'),
    rollout: field('rollout'),
    reward: field('reward'),
    step: field('step'),
    turnRewardsField: field('turnRewardsField'),
    processRewards: field('processRewards'),
    labels: field('labels'),
  }),
  recognizes: (glimpse) => {
    const { messages } = glimpse.first;
    const isChat = Array.isArray(messages) && LooseMessage.safeParse(messages[0]).success;
    return isChat ? hasFields(glimpse, ['messages']) : null;
  },
  reader: (settings) => {
    const ids = new Occurrences();
    return readerOf(Conversation, (conversation) => {
      const taken = new Set<string>(['messages']);
      const read = (role: Role) => {
        const name = [settings[role] ?? NAMES[role]].flat().find((each) => each in conversation);
        if (name !== undefined) taken.add(name);
        return name === undefined ? undefined : conversation[name];
      };
      return conversationOf(conversation, read, taken, ids);
    });
  },
});

function* conversationOf(
  conversation: Conversation,
  read: (role: Role) => unknown,
  taken: ReadonlySet<string>,
  ids: Occurrences,
): Iterable<Said> {
  const messages = conversation.messages.map(chatMessage);
  const { turns, messageOf, finalState, system } = chatTurns(messages);
  const task = read('group');
  const group =
    typeof task === 'string' || typeof task === 'number'
      ? nameOf(task)
      : `prompt-${digestOf(turns[0]?.state ?? '', 12)}`;
  const rollout = read('rollout');
  const step = read('step');
  const reward = read('reward');
  const wrong = Object.entries({ step, reward }).find(
    ([, value]) => value !== undefined && value !== null && typeof value !== 'number',
  );
  if (wrong) {
    yield { skipped: `its ${wrong[0]} is ${JSON.stringify(wrong[1])}, no number` };
    return;
  }
  const trainingStep = typeof step === 'number' ? step : 0;
  const outcome = reward === undefined ? undefined : (reward as number | null);
  const rewards = perTurn(read('turnRewardsField'), messageOf);
  const processRewards = perTurn(read('processRewards'), messageOf);
  const labels = perTurn(read('labels'), messageOf);
  const id = ids.name(
    nameOf(
      [
        `step-${trainingStep}`,
        group,
        typeof rollout === 'number' || typeof rollout === 'string' ? rollout : digestOf(conversation),
      ].join('-'),
    ),
  );
  yield {
    trajectory: said({
      id,
      group,
      trainingStep,
      outcomeReward: outcome,
      success: successOf(outcome),
      signals: said({ toolCalls: toolCallCount(messages), finalState }) as Signals,
      turns: turns.map((turn, t) =>
        withNumbers(turn, rewards?.[t], processRewards?.[t], logprobsOf(conversation.messages[messageOf[t]])),
      ),
      prompt: system,
      source: Object.fromEntries(Object.entries(conversation).filter(([name]) => !taken.has(name))),
    }),
  };
  if (labels) yield { event: labelsEvent(id, labels) };
}

/** A number per assistant message: a list of them, or an object by the index of the message. */
function perTurn(values: unknown, messageOf: readonly number[]): (number | null | undefined)[] | null {
  if (typeof values !== 'object' || values === null) return null;
  const at = Array.isArray(values)
    ? (turn: number) => (values as unknown[])[turn]
    : (turn: number) => (values as Record<string, unknown>)[String(messageOf[turn])];
  return messageOf.map((_, turn) => {
    const value = at(turn);
    return typeof value === 'number' || value === null ? value : undefined;
  });
}

function withNumbers(
  turn: Turn,
  reward: number | null | undefined,
  processReward: number | null | undefined,
  tokens: TokenColumns | undefined,
): Turn {
  const signals = processReward === undefined ? turn.signals : { ...turn.signals, processReward };
  return said({ ...turn, reward, signals, tokens }) as Turn;
}

function logprobsOf({ logprobs }: Readonly<Record<string, unknown>>): TokenColumns | undefined {
  const parsed = Logprobs.safeParse(logprobs);
  const tokens = parsed.success ? (parsed.data.content ?? []) : [];
  return tokens.length > 0 ? { rolloutLogprob: tokens.map(({ logprob }) => logprob) } : undefined;
}

function labelsEvent(trajectory: string, labels: readonly (number | null | undefined)[]): SourceEvent {
  return {
    type: 'annotation.recorded',
    at: '1970-01-01T00:00:00Z',
    trajectory,
    annotator: 'human',
    schema: 'ternary',
    status: 'ok',
    turns: labels.flatMap((label, turn) => (label === undefined ? [] : [{ turn, signals: { humanLabel: label } }])),
  };
}
