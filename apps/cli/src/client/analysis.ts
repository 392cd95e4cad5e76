import { setTimeout as sleep } from 'node:timers/promises';
import type { StateIdentity } from '#lib/credit';
import type { Comparison } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import type { ProgressBar } from '../output/progress-bar.js';
import { count, counted } from '../output/numbers.js';
import type { StepRange } from '../options.js';
import type { ApiClient } from './api-client.js';

const POLL_MS = 200;

export interface AnalysisProgress {
  readonly state: 'PLANNING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
  readonly total: number;
  readonly done: number;
  readonly cached: number;
  readonly failed: number;
  readonly secondsLeft: number | null;
}

export interface AnalysisView {
  readonly id: string;
  readonly state: AnalysisProgress['state'];
  readonly failure: string | null;
  readonly runs: readonly { readonly run: string; readonly asOf: number | null }[];
  readonly stateIdentity: {
    readonly by: (typeof BY)[keyof typeof BY];
    readonly threshold: number | null;
    readonly excludeGeneric: boolean;
  };
  readonly progress: AnalysisProgress;
  readonly estimators: readonly {
    readonly label: string;
    readonly id: string;
    readonly version: number;
    readonly hash: string | null;
    readonly params: Readonly<Record<string, unknown>>;
    readonly inputsMissing: readonly {
      readonly path: string;
      readonly rows: number;
      readonly of: number;
      readonly recordedAs: string | null;
    }[];
    readonly warnings: readonly string[];
    readonly failures: readonly { readonly reason: string; readonly shards: number }[];
  }[];
  readonly failedShards: {
    readonly edges: readonly { readonly node: { readonly trainingStep: number; readonly reason: string | null } }[];
  };
  /** null until it has ended */
  readonly comparison: { readonly detail: Comparison } | null;
}

const PROGRESS = 'progress { state total done cached failed secondsLeft }';
const VIEW = `id state failure runs { run asOf } stateIdentity { by threshold excludeGeneric } ${PROGRESS}
  estimators { label id version hash params inputsMissing { path rows of recordedAs } warnings failures { reason shards } }
  failedShards: shards(state: FAILED, first: 5) { edges { node { trainingStep reason } } }
  comparison { detail }`;

export interface AnalysisWish {
  readonly run: string;
  readonly asOf?: number | undefined;
  readonly estimators: readonly { readonly id: string; readonly params: Readonly<Record<string, unknown>> }[];
  readonly stateIdentity?: StateIdentity | undefined;
  readonly steps?: StepRange | undefined;
}

const BY = {
  lastObservation: 'LAST_OBSERVATION',
  actionObservation: 'ACTION_OBSERVATION',
  fullHistory: 'FULL_HISTORY',
  similarity: 'SIMILARITY',
  embedding: 'EMBEDDING',
} as const;

/** @returns the id of the new analysis */
export async function requestAnalysis(api: ApiClient, wish: AnalysisWish): Promise<string> {
  const { run, asOf, estimators, steps, stateIdentity } = wish;
  const input = {
    runs: [{ run, ...(asOf === undefined ? {} : { asOf }) }],
    estimators,
    firstStep: steps?.from ?? null,
    lastStep: steps?.to ?? null,
    ...(stateIdentity && { stateIdentity: { ...stateIdentity, by: BY[stateIdentity.by] } }),
  };
  const { startAnalysis } = await api.query<{ startAnalysis: { id: string } }>(
    'mutation ($input: StartAnalysisInput!) { startAnalysis(input: $input) { id } }',
    { input },
  );
  return startAnalysis.id;
}

/** Waits until an analysis has ended, in whatever way. */
export async function awaitAnalysis(api: ApiClient, id: string, bar: ProgressBar): Promise<void> {
  try {
    for (;;) {
      const { analysis } = await api.query<{ analysis: { progress: AnalysisProgress } }>(
        `query ($id: ID!) { analysis(id: $id) { ${PROGRESS} } }`,
        { id },
      );
      const { state, done, failed, total, secondsLeft } = analysis.progress;
      if (state !== 'PLANNING' && state !== 'RUNNING') return;
      const detail = state === 'PLANNING' ? 'planning' : `${count(done + failed)} of ${counted(total, 'shard')}`;
      bar.update({ done: done + failed, total, detail, secondsLeft });
      await sleep(POLL_MS);
    }
  } finally {
    bar.end();
  }
}

export async function viewAnalysis(api: ApiClient, id: string): Promise<AnalysisView> {
  const { analysis } = await api.query<{ analysis: AnalysisView | null }>(
    `query ($id: ID!) { analysis(id: $id) { ${VIEW} } }`,
    { id },
  );
  if (analysis) return analysis;
  throw new RecreditError('analysis.unknown', `no analysis ${id} among those you see`);
}
