import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { hasFields } from './glimpse.js';
import { digestOf, nameOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { successOf } from './outcome.js';
import { readerOf } from './say.js';
import { spansOf, spanTokens, type Span } from './token-spans.js';

const Numbers = z.array(z.number().nullable());

/** Each value is a list with one entry per sample, and files hold one sample per line. */
const perSample = <Value extends z.ZodType>(value: Value) => z.tuple([value]);

const Sample = z.looseObject({
  idx: z.union([z.int(), perSample(z.int())]).optional(),
  content: perSample(z.union([z.string(), z.array(z.string())])),
  rewards: perSample(z.number().nullable()),
  input_lengths: perSample(z.int()).optional(),
  token_ids: perSample(z.array(z.int())).optional(),
  token_loss_mask: perSample(Numbers).optional(),
  sample_loss_mask: perSample(z.number()).optional(),
  advantages: perSample(z.union([z.number(), Numbers])).optional(),
  generation_logprobs: perSample(Numbers).optional(),
  prev_logprobs: perSample(Numbers).optional(),
});

type Sample = z.infer<typeof Sample>;

const STEP = /(?:train|val)_data_step(\d+)\./;

export const nemoRl = defineImporter({
  id: 'nemo-rl',
  title: 'NeMo RL training data',
  description:
    'train_data_step<n>.jsonl of NVIDIA-NeMo/RL. The training step is in the name; the group is the prompt, or with the setting generations a block of so many lines.',
  settings: z.strictObject({
    generations: z.coerce.number().int().positive().optional().describe('num_generations_per_prompt of the training'),
    step: z.coerce
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('the training step, where the name does not say it'),
  }),
  recognizes: (glimpse) => hasFields(glimpse, ['content', 'rewards', 'generation_logprobs']),
  nameSays: (path) => STEP.exec(path)?.[1] ?? '',
  reader: ({ generations, step }) => {
    const ids = new Map<string, Occurrences>();
    const lines = new Map<string, number>();
    return readerOf(Sample, (sample, { path }) => {
      const trainingStep = step ?? Number(STEP.exec(path)?.[1] ?? 0);
      const line = lines.get(path) ?? 0;
      lines.set(path, line + 1);
      const block = generations === undefined ? null : `block-${Math.floor(line / generations)}`;
      const names = ids.get(path) ?? new Occurrences();
      ids.set(path, names);
      return [{ trajectory: trajectoryOf(sample, trainingStep, block, names) }];
    });
  },
});

function trajectoryOf(sample: Sample, trainingStep: number, block: string | null, ids: Occurrences) {
  const [content] = sample.content;
  const [reward] = sample.rewards;
  const advantage = sample.advantages?.[0];
  const length = sample.input_lengths?.[0] ?? sample.token_loss_mask?.[0].length ?? 0;
  // what comes after the sample's own length is padding
  const mask = (sample.token_loss_mask?.[0] ?? []).slice(0, length);
  const spans = spansOf(mask, (own) => own === 1);
  const columns = said({
    tokenId: sample.token_ids?.[0],
    logprob: sample.prev_logprobs?.[0],
    rolloutLogprob: sample.generation_logprobs?.[0],
    loggedAdvantage: Array.isArray(advantage) ? advantage : undefined,
  });
  const texts = turnTexts(typeof content === 'string' ? [content] : content, mask, spans);
  const prompt = texts[0]?.state ?? '';
  const group =
    block ?? `prompt-${digestOf(prompt === '' ? (sample.token_ids?.[0] ?? []).slice(0, spans[0]?.[0]) : prompt, 12)}`;
  const { content: _c, rewards: _r, token_ids: _t, token_loss_mask: _m, advantages: _a, ...rest } = sample;
  const { generation_logprobs: _g, prev_logprobs: _p, idx: _i, ...source } = rest;
  return said({
    id: ids.name(nameOf(`step-${trainingStep}-${group}-${digestOf(sample)}`)),
    group,
    trainingStep,
    outcomeReward: reward,
    success: successOf(reward),
    signals: said({ tokenCount: spans.reduce((sum, [from, to]) => sum + to - from, 0) || undefined }) as Signals,
    turns: texts.map(({ state, action, spans: own }) => ({
      state,
      action,
      ...(typeof advantage === 'number' ? { signals: { loggedAdvantage: advantage } } : {}),
      ...(own.length > 0 ? { tokens: spanTokens(columns, own) } : {}),
    })),
    source,
  });
}

interface TurnTexts {
  readonly state: string;
  readonly action: string;
  readonly spans: readonly Span[];
}

/**
 * The messages have no roles, but the loss mask tells whose tokens are whose: it is a chain of runs, the policy's own
 * and others, and every message lies in one of them. More messages than runs are several that open the prompt. Where
 * the two do not fit, all of it is one turn.
 */
function turnTexts(messages: readonly string[], mask: readonly (number | null)[], spans: readonly Span[]): TurnTexts[] {
  const startsOwn = mask[0] === 1;
  const endsOwn = spans.length > 0 && spans.at(-1)![1] === mask.length;
  const runs = spans.length === 0 ? 0 : 2 * spans.length + (startsOwn ? -1 : 0) + (endsOwn ? 0 : 1);
  const extra = messages.length - runs;
  if (spans.length === 0 || extra < 0 || (startsOwn && extra > 0)) {
    return [{ state: messages.slice(0, -1).join('\n'), action: messages.at(-1) ?? '', spans }];
  }
  const opening = startsOwn ? [] : [messages.slice(0, extra + 1).join('\n')];
  const chain = [...opening, ...messages.slice(startsOwn ? 0 : extra + 1)];
  return spans.map((span, t) => {
    const at = startsOwn ? 2 * t : 2 * t + 1;
    return { state: at === 0 ? '' : chain[at - 1], action: chain[at] ?? '', spans: [span] };
  });
}
