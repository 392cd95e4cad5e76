import type { Signals, Turn } from '#lib/protocol';
import { z } from 'zod';
import { hasFields } from './glimpse.js';
import { digestOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { scalarSignals, successOf } from './outcome.js';
import { readerOf } from './say.js';

const Rollout = z.looseObject({
  input: z.string(),
  output: z.string(),
  score: z.number().nullable(),
  step: z.int().nonnegative(),
  gts: z.unknown().optional(),
});

type Rollout = z.infer<typeof Rollout>;

/** What opens and closes, in the decoded text, what was said to the policy. */
interface Separator {
  readonly start: string;
  readonly end: string;
}

export const verl = defineImporter({
  id: 'verl',
  title: 'verl rollout and validation dumps',
  description:
    '<step>.jsonl of trainer.rollout_data_dir. The group is the prompt. A rollout is one turn, unless the settings observationStart and observationEnd say where its output holds what it was told.',
  settings: z.strictObject({
    observationStart: z
      .string()
      .min(1)
      .optional()
      .describe(String.raw`what opens an observation in output, such as \nuser\n`),
    observationEnd: z
      .string()
      .min(1)
      .optional()
      .describe(String.raw`what closes it, such as \nassistant\n`),
  }),
  recognizes: (glimpse) => hasFields(glimpse, ['input', 'output', 'score', 'step']),
  reader: ({ observationStart, observationEnd }) => {
    const ids = new Occurrences();
    const separator =
      observationStart === undefined || observationEnd === undefined
        ? null
        : { start: unescaped(observationStart), end: unescaped(observationEnd) };
    return readerOf(Rollout, (rollout) => [{ trajectory: trajectoryOf(rollout, separator, ids) }]);
  },
});

function trajectoryOf(rollout: Rollout, separator: Separator | null, ids: Occurrences) {
  const { input, output, score, step, ...extra } = rollout;
  const { acc } = extra;
  return said({
    id: ids.name(`step-${step}-${digestOf(rollout, 12)}`),
    group: `prompt-${digestOf(input, 12)}`,
    trainingStep: step,
    outcomeReward: score,
    success: successOf(typeof acc === 'boolean' ? Number(acc) : typeof acc === 'number' ? acc : score),
    signals: said({
      ...scalarSignals(extra),
      answerScore: typeof acc === 'number' ? acc : undefined,
    }) as Signals,
    turns: turnsOf(input, output, separator),
    source: extra,
  });
}

function turnsOf(input: string, output: string, separator: Separator | null): Turn[] {
  const turns: Turn[] = [];
  let state = input;
  let rest = output;
  if (!separator) return [{ state, action: output }];
  for (;;) {
    const start = rest.indexOf(separator.start);
    const end = start < 0 ? -1 : rest.indexOf(separator.end, start + separator.start.length);
    if (end < 0) break;
    turns.push({ state, action: rest.slice(0, start) });
    state = rest.slice(start + separator.start.length, end);
    rest = rest.slice(end + separator.end.length);
  }
  return [...turns, { state, action: rest }];
}

/** On a command line a line end is easier written than typed. */
function unescaped(text: string): string {
  return text.replaceAll(String.raw`\n`, '\n').replaceAll(String.raw`\t`, '\t');
}
