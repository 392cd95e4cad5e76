import { setTimeout as sleep } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';
import type { ApiClient } from './api-client.js';

const POLL_MS = 100;
/** What is acknowledged is safe; waiting is for the eye alone, so it has an end. */
const PATIENCE_MS = 30_000;

export interface RunView {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly createdAt: string;
  readonly config: unknown;
  readonly progress: {
    readonly state: string;
    readonly position: number;
    readonly lastTrainingStep: number | null;
    readonly trajectoryCount: number;
    readonly finishedCount: number;
    readonly incompleteCount: number;
    readonly turnCount: number;
    readonly groupCount: number;
    readonly successRate: number | null;
    readonly meanOutcomeReward: number | null;
    readonly lastEventAt: string | null;
  };
}

export const RUN_FIELDS = `id name project createdAt config
  progress {
    state position lastTrainingStep trajectoryCount finishedCount incompleteCount turnCount groupCount successRate
    meanOutcomeReward lastEventAt
  }`;

/** A run by name or id, with whatever else of it is asked for. */
export async function findRun<More = object>(
  api: ApiClient,
  name: string,
  more = '',
  variables: Readonly<Record<string, unknown>> = {},
): Promise<RunView & More> {
  const { run } = await api.query<{ run: (RunView & More) | null }>(
    `query ($name: ID!) { run(id: $name) { ${RUN_FIELDS} ${more} } }`,
    { name, ...variables },
  );
  if (run) return run;
  throw new RecreditError('run.unknown', `no run ${name} among those you see; \`recredit runs\` lists them`);
}

/** Waits until so many trajectories of a run can be seen. */
export async function awaitProjection(api: ApiClient, run: string, trajectories: number): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const { progress } = await findRun(api, run);
    if (progress.trajectoryCount >= trajectories) return;
    await sleep(POLL_MS);
  }
}
