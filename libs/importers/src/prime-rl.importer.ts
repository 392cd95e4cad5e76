import { z } from 'zod';
import { has } from './glimpse.js';
import { defineImporter } from './importer.js';
import { readerOf, type Said } from './say.js';
import { TraceEpisode, traceTrajectories } from './traces.js';
import { isOfTraining, isTrace } from './verifiers.importer.js';

const Metrics = z.looseObject({ step: z.int().nonnegative(), time: z.number().optional() });

/** Of the token export nothing says which trajectory its rows are of. */
const TokenExport = z.looseObject({ inference_logprobs: z.array(z.unknown()), trainer_logprobs: z.array(z.unknown()) });

const STEP = /step_(\d+)\//;

export const primeRl = defineImporter({
  id: 'prime-rl',
  title: 'prime-rl training rollouts and metrics',
  description:
    'rollouts/step_<n>/train/{all,effective}/traces.jsonl and metrics.jsonl of PrimeIntellect-ai/prime-rl. Several leaves of a trace are branches of a tree.',
  recognizes: (glimpse) => {
    if (isTrace(glimpse))
      return isOfTraining(glimpse) ? 'its first line has traces of a task and a training step' : null;
    if (has(glimpse.first, 'inference_logprobs', 'trainer_logprobs', 'token_ids'))
      return 'its first line is of a token export';
    return has(glimpse.first, 'step', 'time') && glimpse.path.includes('metrics') ? 'it has metrics by step' : null;
  },
  nameSays: (path) => STEP.exec(path)?.[1] ?? '',
  reader: () =>
    readerOf(shapeOf, function* (record, { path }): Iterable<Said> {
      if ('traces' in record) {
        const episode = record as TraceEpisode;
        yield* traceTrajectories(episode, episode.run?.work?.step ?? Number(STEP.exec(path)?.[1] ?? 0));
      } else if ('inference_logprobs' in record) {
        yield { skipped: 'a row of a token export names no trajectory; the traces of its step have its tokens' };
      } else {
        yield { event: metricsEvent(record) };
      }
    }),
});

function shapeOf(record: unknown): typeof TraceEpisode | typeof TokenExport | typeof Metrics {
  if (has(record, 'traces')) return TraceEpisode;
  return has(record, 'inference_logprobs') ? TokenExport : Metrics;
}

function metricsEvent({ step, time, ...rest }: z.infer<typeof Metrics>) {
  const numbers = Object.entries(rest).filter(
    ([name, value]) => name !== '' && (typeof value === 'number' || value === null),
  );
  return {
    type: 'trainingStep.recorded',
    at: time === undefined ? '1970-01-01T00:00:00Z' : new Date(time * 1000).toISOString(),
    trainingStep: step,
    metrics: Object.fromEntries(numbers),
  };
}
