import type { Signals, TokenColumns } from '#lib/protocol';
import { z } from 'zod';
import { ChatMessage, spoken } from './chat.js';
import { hasFields } from './glimpse.js';
import { digestOf, nameOf, Occurrences, said } from './identity.js';
import { defineImporter, type SourceFile } from './importer.js';
import { scalarSignals, successOf } from './outcome.js';
import { layoutOf, peek, readElements, readRecords } from './read-records.js';
import { readerOf } from './say.js';
import { spansOf, spanTokens } from './token-spans.js';

const Numbers = z.array(z.number().nullable()).nullish();

const Sample = z.looseObject({
  rollout_id: z.int().nonnegative().nullish(),
  group_index: z.union([z.int(), z.string()]).nullish(),
  index: z.union([z.int(), z.string()]).nullish(),
  prompt: z.union([z.string(), z.array(ChatMessage)]),
  response: z.string(),
  reward: z.union([z.number(), z.record(z.string(), z.unknown())]).nullish(),
  tokens: z.array(z.int()).nullish(),
  response_length: z.int().nonnegative().nullish(),
  loss_mask: z.array(z.int()).nullish(),
  rollout_log_probs: Numbers,
  status: z.string().nullish(),
});

type Sample = z.infer<typeof Sample>;

const ROLLOUT = /rollout_?(\d+)\./;

export const slime = defineImporter({
  id: 'slime',
  title: 'slime samples as JSON',
  description:
    'What a torch file of THUDM/slime holds, written as JSON: a sample per line, or an object with samples. The file itself is a pickle, which can run code when it is read, and is refused.',
  settings: z.strictObject({
    reward: z.string().min(1).optional().describe('the key of the reward, where rewards are objects'),
  }),
  recognizes: (glimpse) => {
    const inside = glimpse.first.samples;
    const sample = {
      ...glimpse,
      first: (Array.isArray(inside) ? inside[0] : glimpse.first) as Record<string, unknown>,
    };
    return hasFields(sample, ['prompt', 'response', 'response_length', 'reward']);
  },
  nameSays: (path) => ROLLOUT.exec(path)?.[1] ?? '',
  reader: ({ reward }) => {
    const ids = new Occurrences();
    return readerOf(
      Sample,
      (sample, { path }) => [{ trajectory: trajectoryOf(sample, reward, Number(ROLLOUT.exec(path)?.[1] ?? 0), ids) }],
      samplesOf,
    );
  },
});

/** A sample per line, or the list under `samples` of one document. */
async function* samplesOf({ path, bytes }: SourceFile) {
  const { head, all } = await peek(bytes);
  const isDocument = layoutOf(head) === 'object' || /^\s*\{\s*("rollout_id"\s*:\s*\d+\s*,\s*)?"samples"\s*:/.test(head);
  yield* isDocument ? readElements({ path, bytes: all }, 'samples') : readRecords({ path, bytes: all });
}

function trajectoryOf(sample: Sample, key: string | undefined, step: number, ids: Occurrences) {
  const { prompt, response, reward, tokens, loss_mask, rollout_log_probs, ...source } = sample;
  const length = sample.response_length ?? rollout_log_probs?.length ?? 0;
  const all = tokens ?? [];
  const given = typeof reward === 'number' ? reward : numberOf(reward?.[key ?? 'score']);
  const trainingStep = sample.rollout_id ?? step;
  const state = typeof prompt === 'string' ? prompt : prompt.map(spoken).join('\n');
  const columns = {
    ...(all.length >= length ? { tokenId: all.slice(all.length - length) } : {}),
    ...(rollout_log_probs?.length === length ? { rolloutLogprob: rollout_log_probs } : {}),
  };
  const mask = loss_mask?.length === length ? loss_mask : new Array<number>(length).fill(1);
  const own = spansOf(mask, (isOwn) => isOwn === 1);
  const group =
    sample.group_index === undefined || sample.group_index === null
      ? `prompt-${digestOf(state, 12)}`
      : nameOf(sample.group_index);
  return said({
    id: ids.name(nameOf(`step-${trainingStep}-${group}-${sample.index ?? digestOf(sample)}`)),
    group,
    trainingStep,
    outcomeReward: given,
    success: successOf(given),
    signals: said({
      ...scalarSignals(typeof reward === 'object' && reward !== null ? reward : {}),
      ended: sample.status ?? undefined,
      truncated: sample.status === 'truncated' ? true : undefined,
    }) as Signals,
    turns: [
      said({
        state,
        action: response,
        tokens: length > 0 && Object.keys(columns).length > 0 ? (spanTokens(columns, own) as TokenColumns) : undefined,
      }),
    ],
    source,
  });
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
