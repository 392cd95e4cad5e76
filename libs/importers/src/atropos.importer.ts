import type { Signals, TokenColumns } from '#lib/protocol';
import { z } from 'zod';
import { ChatMessage, chatTurns, contentOf } from './chat.js';
import { has } from './glimpse.js';
import { digestOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { readerOf, type Said } from './say.js';
import { spansOf, spanTokens, type Span } from './token-spans.js';

const Numbers = z.array(z.number().nullable());
const PerToken = z.array(Numbers.nullable()).nullish();

const Group = z.looseObject({
  tokens: z.array(z.array(z.int())),
  masks: z.array(z.array(z.int())),
  scores: z.array(z.number().nullable()),
  messages: z.array(z.union([z.array(ChatMessage), z.string()]).nullable()).nullish(),
  advantages: z.array(z.union([z.number(), Numbers]).nullable()).nullish(),
  token_scores: PerToken,
  inference_logprobs: PerToken,
  ref_logprobs: PerToken,
  seed: z.union([z.int(), z.string()]).nullish(),
});

type Group = z.infer<typeof Group>;

/** What the mask of a token that is not trained holds. */
const NOT_TRAINED = -100;

export const atropos = defineImporter({
  id: 'atropos',
  title: 'Atropos group dumps',
  description:
    'JSONL of data_path_to_save_groups (NousResearch/atropos), one group per line. Token columns hold the trained tokens.',
  recognizes: ({ first }) =>
    has(first, 'tokens', 'masks', 'scores') ? 'its first line has tokens, masks and scores' : null,
  reader: () => {
    const groups = new Occurrences();
    const steps = new Map<string, number>();
    return readerOf(Group, (group) => {
      const { seed } = group;
      const step = seed === undefined || seed === null ? null : (steps.get(String(seed)) ?? 0);
      if (step !== null) steps.set(String(seed), step + 1);
      const id = groups.name(step === null ? `group-${digestOf(group.tokens, 12)}` : `seed-${seed}-step-${step}`);
      return candidates(group, id, said({ seed: seed ?? undefined, step: step ?? undefined }) as Signals);
    });
  },
});

function* candidates(group: Group, id: string, signals: Signals): Iterable<Said> {
  const { tokens, masks, scores } = group;
  if (masks.length !== tokens.length || scores.length !== tokens.length) {
    yield {
      skipped: `tokens, masks and scores speak of ${tokens.length}, ${masks.length} and ${scores.length} candidates`,
    };
    return;
  }
  for (const i of tokens.keys()) {
    if (masks[i].length !== tokens[i].length) {
      yield { skipped: `candidate ${i} has ${tokens[i].length} tokens and ${masks[i].length} masks` };
    } else {
      yield { trajectory: trajectoryOf(group, i, `${id}-${i}`, id, signals) };
    }
  }
}

function trajectoryOf(group: Group, i: number, id: string, groupId: string, signals: Signals) {
  const advantage = group.advantages?.[i];
  const columns = said({
    tokenId: group.tokens[i],
    reward: group.token_scores?.[i] ?? undefined,
    rolloutLogprob: group.inference_logprobs?.[i] ?? undefined,
    refLogprob: group.ref_logprobs?.[i] ?? undefined,
    loggedAdvantage: Array.isArray(advantage) ? advantage : undefined,
  });
  const spans = spansOf(group.masks[i], (mask) => mask !== NOT_TRAINED);
  const turns = turnsOf(group.messages?.[i] ?? null, spans).map(({ state, action, spans: own }) => ({
    ...said({ state, action }),
    ...(typeof advantage === 'number' ? { signals: { loggedAdvantage: advantage } } : {}),
    tokens: spanTokens(columns, own) as TokenColumns,
  }));
  const { tokens: _tokens, masks: _masks, scores, messages: _messages, token_scores: _token, ...rest } = group;
  const { inference_logprobs: _inference, ref_logprobs: _ref, advantages: _advantages, seed: _seed, ...shared } = rest;
  return {
    id,
    group: groupId,
    trainingStep: 0,
    outcomeReward: scores[i],
    signals: { ...signals, candidate: i },
    turns,
    source: Object.fromEntries(
      Object.entries(shared).map(([name, value]) => [
        name,
        Array.isArray(value) && value.length === scores.length ? (value[i] as unknown) : value,
      ]),
    ),
  };
}

/**
 * The turns of one candidate. Where as many answers were trained as were given, each is a turn; else the last one is,
 * with all that was trained: one decision out of an episode.
 */
function turnsOf(messages: readonly ChatMessage[] | string | null, spans: readonly Span[]) {
  if (messages === null) return [{ state: undefined, action: undefined, spans }];
  if (typeof messages === 'string') return [{ state: undefined, action: messages, spans }];
  const { turns } = chatTurns(
    messages.map((message) => (message.role === 'agent' ? { ...message, role: 'assistant' } : message)),
  );
  if (turns.length === spans.length) return turns.map((turn, t) => ({ ...texts(turn), spans: [spans[t]] }));
  const last = turns.at(-1);
  return last ? [{ ...texts(last), spans }] : [{ state: undefined, action: messages.map(contentOf).join('\n'), spans }];
}

function texts({ state, action }: ReturnType<typeof chatTurns>['turns'][number]) {
  return { state, action };
}
