import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { hasFields } from './glimpse.js';
import { digestOf, nameOf, Occurrences, said } from './identity.js';
import { defineImporter } from './importer.js';
import { successOf } from './outcome.js';
import { readerOf } from './say.js';

const Result = z.looseObject({
  input_prompt: z.string(),
  output_response: z.string(),
  score: z.union([z.number(), z.array(z.number())]).nullable(),
  stop_reason: z.string().nullish(),
  data_source: z.string().nullish(),
  env_class: z.string().nullish(),
});

type Result = z.infer<typeof Result>;

export const skyrl = defineImporter({
  id: 'skyrl',
  title: 'SkyRL evaluation dumps',
  description:
    '<data_source>.jsonl of trainer.dump_eval_results. The group is the prompt; a score per token is added up. Training dumps are pickles and are refused.',
  settings: z.strictObject({
    step: z.coerce
      .number()
      .int()
      .nonnegative()
      .optional()
      .describe('the training step, where the folder does not say it'),
  }),
  recognizes: (glimpse) => hasFields(glimpse, ['input_prompt', 'output_response', 'score']),
  nameSays: (path) => STEP.exec(path)?.[1] ?? '',
  reader: ({ step }) => {
    const ids = new Occurrences();
    return readerOf(Result, (result, { path }) => [
      { trajectory: trajectoryOf(result, step ?? Number(STEP.exec(path)?.[1] ?? 0), ids) },
    ]);
  },
});

const STEP = /global_step_(\d+)/;

function trajectoryOf(result: Result, trainingStep: number, ids: Occurrences) {
  const { input_prompt, output_response, score, stop_reason, data_source, ...source } = result;
  const outcome = Array.isArray(score) ? score.reduce((sum, each) => sum + each, 0) : score;
  return said({
    id: ids.name(nameOf(`step-${trainingStep}-${digestOf(result, 12)}`)),
    group: `prompt-${digestOf(input_prompt, 12)}`,
    trainingStep,
    outcomeReward: outcome,
    success: successOf(outcome),
    signals: said({
      dataset: data_source ?? undefined,
      ended: stop_reason ?? undefined,
      truncated: stop_reason === 'length' ? true : undefined,
    }) as Signals,
    turns: [{ state: input_prompt, action: output_response }],
    source,
  });
}
