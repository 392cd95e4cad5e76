import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { train, TRAINING_DEFAULTS, type FaultId, type TrainingOptions } from '#app/example-trainer';
import { RecreditError } from '#lib/kernel';
import { reportText, startRun } from '#lib/sdk';
import type { ApiClient } from '../client/api-client.js';
import { findRun } from '../client/runs.js';
import type { Config } from '../config.js';
import { counted, percent } from '../output/numbers.js';
import type { ProgressBar } from '../output/progress-bar.js';

const POLL_MS = 100;
const PATIENCE_MS = 60_000;

export interface LiveTraining {
  readonly name: string;
  readonly api: ApiClient;
  readonly config: Config;
  readonly bar: ProgressBar;
  /** a mistake in the advantages; null: none */
  readonly plant: FaultId | null;
}

/** What a fault needs to be told from others: outcome credit, groups of several sizes, some rejected rollouts. */
const WITH_FAULT: Partial<TrainingOptions> = { estimator: 'grpo', lost: 0.25, rejected: 0.1 };

/** What the platform has of the training, once it has all of it. */
export interface Trained {
  readonly steps: number;
  readonly trajectories: number;
  readonly turns: number;
  readonly events: number;
  readonly successRates: readonly number[];
}

/** Trains the example agent from nothing. Its events go the way of any trainer's: through the SDK, while it trains. */
export async function trainLive({ name, api, config, bar, plant }: LiveTraining): Promise<Trained> {
  const options = { ...TRAINING_DEFAULTS, ...(plant && { ...WITH_FAULT, plant }) };
  const run = await startRun({
    project: 'default',
    name,
    config: { trainer: 'example', ...options },
    url: api.url,
    apiKey: api.apiKey ?? undefined,
    spool: join(config.home, 'spool'),
  });
  try {
    await train({
      ...options,
      run,
      onStep: ({ trainingStep, steps, metrics, turns }) =>
        bar.update({
          done: trainingStep + 1,
          total: steps,
          detail: `success ${percent(metrics.successRate)}, ${counted(turns, 'turn')}`,
        }),
    });
    const report = await run.end({ deadlineMs: PATIENCE_MS });
    if (report.unsent + report.refused + report.dropped > 0) {
      throw new RecreditError('internal.error', reportText(report));
    }
    return await asStored(api, name, report.position ?? 0);
  } finally {
    bar.end();
    await run.close({ deadlineMs: 0 });
  }
}

/** The run as GraphQL tells it, not as the trainer remembers it. */
async function asStored(api: ApiClient, name: string, position: number): Promise<Trained> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const { progress, metric } = await findRun<{ metric: { points: readonly { value: number | null }[] } }>(
      api,
      name,
      'metric(name: "successRate") { points { value } }',
    );
    if (progress.position >= position) {
      const { trajectoryCount: trajectories, turnCount: turns, position: events } = progress;
      const successRates = metric.points.map(({ value }) => value ?? NaN);
      return { steps: successRates.length, trajectories, turns, events, successRates };
    }
    await sleep(POLL_MS);
  }
  throw new RecreditError('internal.error', `run ${name} did not become visible within ${PATIENCE_MS / 1000} s`);
}
