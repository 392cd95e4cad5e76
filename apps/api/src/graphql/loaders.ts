import type { Confined } from '#lib/access';
import { progressOfEach } from '#lib/analysis';
import { chainHeads } from '#lib/event-log';
import DataLoader from 'dataloader';
import {
  analysesOfRuns,
  analysisRuns,
  BY_RUN_AND_STEP,
  estimatorNotes,
  NEWEST_ANALYSIS,
  shards,
  storedComparisons,
  type ShardFilter,
} from '../analyses/analysis.reader.js';
import { costsOfAnalyses } from '../analyses/cost.reader.js';
import { annotationsOfTrajectories, AS_ANNOTATED } from '../annotations/annotation.reader.js';
import { auditsOfRuns, NEWEST_AUDIT } from '../audits/audit.reader.js';
import type { DiagnosticStep } from '../diagnostics/diagnostic.object.js';
import {
  alertsOfRuns,
  diagnosticCurves,
  diagnosticSteps,
  keptDiagnostics,
  NEWEST_ALERT,
  settingOrigins,
  settingsOfRuns,
  type AlertFilter,
  type WantedCurve,
} from '../diagnostics/diagnostic.reader.js';
import { erasuresOfRuns } from '../erasures/erasure.reader.js';
import { AS_GROUPS_BEGAN, groups, type GroupFilter } from '../groups/group.reader.js';
import type { MetricPoint } from '../metrics/metric-series.object.js';
import { metricPoints } from '../metrics/metric.reader.js';
import { keptPlans } from '../plans/plan.reader.js';
import type { ApiPorts } from '../ports.js';
import { countRunsOfProjects, NEWEST_RUN, progressOfRuns, runsOfProjects, signalsOfRuns } from '../runs/run.reader.js';
import { BY_STEP, trainingSteps } from '../training-steps/training-step.reader.js';
import { creditLoaders } from '../trajectories/credit.loader.js';
import type { TrajectoryFilter } from '../trajectories/trajectory.object.js';
import { AS_TRAJECTORIES_BEGAN, trajectories, trajectoriesOfGroups } from '../trajectories/trajectory.reader.js';
import { turnLoader, turnsLoader } from '../trajectories/turns.loader.js';
import { deliveriesOfWebhooks, NEWEST_DELIVERY } from '../webhooks/webhook.reader.js';
import { pageLoader } from './page-loader.js';
import { queryable } from './queryable.js';

/** One loader per field that needs a query, made per request: a page costs as many statements as a row. */
export function createLoaders(db: Confined, { store }: Pick<ApiPorts, 'store'>) {
  return {
    runProgress: new DataLoader((runIds: readonly string[]) => progressOfRuns(db, runIds)),
    chainHead: new DataLoader((runIds: readonly string[]) => chainHeads(queryable(db), runIds)),
    erasure: new DataLoader((runIds: readonly string[]) => erasuresOfRuns(db, runIds)),
    signals: new DataLoader((runIds: readonly string[]) => signalsOfRuns(db, runIds)),
    runsOfProject: pageLoader(NEWEST_RUN, (ids, limit, after) => runsOfProjects(db, ids, limit, after)),
    runCountOfProject: new DataLoader((ids: readonly string[]) => countRunsOfProjects(db, ids)),
    trainingSteps: pageLoader(BY_STEP, (ids, limit, after) => trainingSteps(db, ids, limit, after)),
    groups: pageLoader(AS_GROUPS_BEGAN, (ids, limit, after, filter: GroupFilter) =>
      groups(db, ids, limit, after, filter),
    ),
    trajectories: pageLoader(AS_TRAJECTORIES_BEGAN, (ids, limit, after, filter: TrajectoryFilter) =>
      trajectories(db, ids, limit, after, filter),
    ),
    trajectoriesOfGroup: pageLoader(AS_TRAJECTORIES_BEGAN, (ids, limit, after) =>
      trajectoriesOfGroups(db, ids, limit, after),
    ),
    metric: perRunLoader<string, MetricPoint[]>(async (runIds, name) => {
      const points = Map.groupBy(await metricPoints(db, runIds, name), ({ of }) => of);
      return runIds.map((id) => points.get(id) ?? []);
    }),
    diagnostics: new DataLoader((runIds: readonly string[]) => keptDiagnostics(db, runIds)),
    diagnosticSettings: new DataLoader((runIds: readonly string[]) => settingsOfRuns(db, runIds)),
    settingOrigins: new DataLoader((runIds: readonly string[]) => settingOrigins(db, runIds)),
    diagnosticSteps: perRunLoader<string, readonly DiagnosticStep[]>((runIds, id) => diagnosticSteps(db, runIds, id)),
    diagnosticCurve: new DataLoader<WantedCurve, MetricPoint[], string>((wanted) => diagnosticCurves(db, wanted), {
      cacheKeyFn: (one) => JSON.stringify(one),
    }),
    plan: new DataLoader((runIds: readonly string[]) => keptPlans(db, runIds)),
    audits: pageLoader(NEWEST_AUDIT, (ids, limit, after) => auditsOfRuns(db, ids, limit, after)),
    alerts: pageLoader(NEWEST_ALERT, (ids, limit, after, filter: AlertFilter) =>
      alertsOfRuns(db, ids, limit, after, filter),
    ),
    deliveries: pageLoader(NEWEST_DELIVERY, (ids, limit, after) => deliveriesOfWebhooks(db, ids, limit, after)),
    annotations: pageLoader(AS_ANNOTATED, (ids, limit, after) => annotationsOfTrajectories(db, ids, limit, after)),
    turns: turnsLoader(db),
    turn: turnLoader(db),
    ...creditLoaders(db, store),
    analysesOfRun: pageLoader(NEWEST_ANALYSIS, (ids, limit, after) => analysesOfRuns(db, ids, limit, after)),
    analysisRuns: new DataLoader((ids: readonly string[]) => analysisRuns(db, ids)),
    analysisProgress: new DataLoader(async (ids: readonly string[]) => {
      const progress = await progressOfEach(queryable(db), ids);
      return ids.map((id) => progress.get(id)!);
    }),
    estimatorNotes: new DataLoader((ids: readonly string[]) => estimatorNotes(db, ids)),
    analysisCosts: new DataLoader((ids: readonly string[]) => costsOfAnalyses(db, ids)),
    comparison: new DataLoader((ids: readonly string[]) => storedComparisons(db, ids)),
    shards: pageLoader(BY_RUN_AND_STEP, (ids, limit, after, filter: ShardFilter) =>
      shards(db, ids, limit, after, filter),
    ),
  };
}

export type Loaders = ReturnType<typeof createLoaders>;

/**
 * Loads what a field with an argument says of runs: one statement for each value of the argument.
 *
 * @param read in the order of the ids
 */
function perRunLoader<Argument, Value>(
  read: (runIds: readonly string[], argument: Argument) => Promise<readonly Value[]>,
) {
  interface Wanted {
    readonly run: string;
    readonly argument: Argument;
  }
  return new DataLoader<Wanted, Value, string>(
    async (wanted) => {
      const values = new Map<Wanted, Value>();
      for (const [argument, same] of Map.groupBy(wanted, (one) => one.argument)) {
        const found = await read(
          same.map(({ run }) => run),
          argument,
        );
        same.forEach((one, i) => values.set(one, found[i]));
      }
      return wanted.map((one) => values.get(one)!);
    },
    { cacheKeyFn: ({ run, argument }) => JSON.stringify([run, argument]) },
  );
}
