import type { Confined } from '#lib/access';
import { progressOfEach } from '#lib/analysis';
import DataLoader from 'dataloader';
import {
  analysesOfRuns,
  analysisRuns,
  estimatorNotes,
  keyOfAnalysis,
  keyOfShard,
  shards,
  storedComparisons,
  type ShardFilter,
} from '../analyses/analysis.reader.js';
import { zeroVarianceGroups } from '../diagnostics/learning-signal.js';
import { groups, keyOfGroup, type GroupFilter } from '../groups/group.reader.js';
import { metricPoints } from '../metrics/metric.reader.js';
import type { ApiPorts } from '../ports.js';
import { keyOfRun, progressOfRuns, runsOfProjects, signalsOfRuns } from '../runs/run.reader.js';
import { keyOfStep, trainingSteps } from '../training-steps/training-step.reader.js';
import { creditLoader } from '../trajectories/credit.loader.js';
import type { TrajectoryFilter } from '../trajectories/trajectory.object.js';
import { keyOfTrajectory, trajectories, trajectoriesOfGroups } from '../trajectories/trajectory.reader.js';
import { turnsLoader } from '../trajectories/turns.loader.js';
import { pageLoader } from './page-loader.js';
import { queryable } from './queryable.js';

/** One loader per field that needs a query, made per request: a page costs as many statements as a row. */
export function createLoaders(db: Confined, { store }: ApiPorts) {
  return {
    runProgress: new DataLoader((runIds: readonly string[]) => progressOfRuns(db, runIds)),
    signals: new DataLoader((runIds: readonly string[]) => signalsOfRuns(db, runIds)),
    runsOfProject: pageLoader((ids, limit, after) => runsOfProjects(db, ids, limit, after), keyOfRun),
    trainingSteps: pageLoader((ids, limit, after) => trainingSteps(db, ids, limit, after), keyOfStep),
    groups: pageLoader((ids, limit, after, filter: GroupFilter) => groups(db, ids, limit, after, filter), keyOfGroup),
    trajectories: pageLoader(
      (ids, limit, after, filter: TrajectoryFilter) => trajectories(db, ids, limit, after, filter),
      keyOfTrajectory,
    ),
    trajectoriesOfGroup: pageLoader(
      (ids, limit, after) => trajectoriesOfGroups(db, ids, limit, after),
      keyOfTrajectory,
    ),
    metric: metricLoader(db),
    zeroVarianceGroups: zeroVarianceLoader(db),
    turns: turnsLoader(db),
    credit: creditLoader(db, store),
    analysesOfRun: pageLoader((ids, limit, after) => analysesOfRuns(db, ids, limit, after), keyOfAnalysis),
    analysisRuns: new DataLoader((ids: readonly string[]) => analysisRuns(db, ids)),
    analysisProgress: new DataLoader(async (ids: readonly string[]) => {
      const progress = await progressOfEach(queryable(db), ids);
      return ids.map((id) => progress.get(id)!);
    }),
    estimatorNotes: new DataLoader((ids: readonly string[]) => estimatorNotes(db, ids)),
    comparison: new DataLoader((ids: readonly string[]) => storedComparisons(db, ids)),
    shards: pageLoader((ids, limit, after, filter: ShardFilter) => shards(db, ids, limit, after, filter), keyOfShard),
  };
}

export type Loaders = ReturnType<typeof createLoaders>;

function metricLoader(db: Confined) {
  return new DataLoader(
    async (wanted: readonly { readonly run: string; readonly name: string }[]) => {
      const series = new Map<string, Awaited<ReturnType<typeof metricPoints>>>();
      for (const [name, same] of Map.groupBy(wanted, (one) => one.name)) {
        const points = await metricPoints(
          db,
          same.map(({ run }) => run),
          name,
        );
        for (const [run, ofRun] of Map.groupBy(points, (point) => point.of)) series.set(`${run}/${name}`, ofRun);
      }
      return wanted.map(({ run, name }) => series.get(`${run}/${name}`) ?? []);
    },
    { cacheKeyFn: ({ run, name }) => `${run}/${name}` },
  );
}

function zeroVarianceLoader(db: Confined) {
  return new DataLoader(
    async (wanted: readonly { readonly run: string; readonly asOf: number }[]) => {
      const found = new Map<number, Awaited<ReturnType<typeof zeroVarianceGroups>>>();
      for (const [asOf, same] of Map.groupBy(wanted, (one) => one.asOf)) {
        found.set(
          asOf,
          await zeroVarianceGroups(
            db,
            same.map(({ run }) => run),
            asOf,
          ),
        );
      }
      return wanted.map(({ run, asOf }) => found.get(asOf)!.get(run)!);
    },
    { cacheKeyFn: ({ run, asOf }) => `${run}/${asOf}` },
  );
}
