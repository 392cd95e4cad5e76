import { Inject } from '@nestjs/common';
import { Args, Context, ID, Mutation, Parent, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import {
  cancelAnalysis,
  planAnalysisJob,
  PROGRESS_CHANNEL,
  progressOf,
  startAnalysis,
  type Progress as ProgressRow,
} from '#lib/analysis';
import { findRun, type RegisteredRun } from '#lib/access';
import { StateIdentity as ChosenIdentity } from '#lib/credit';
import { RecreditError } from '#lib/kernel';
import { recordedInstead } from '#lib/protocol';
import { PageArgs } from '../graphql/connection.js';
import { queryable } from '../graphql/queryable.js';
import type { RequestContext } from '../graphql/request-context.js';
import { Needs } from '../graphql/role.guard.js';
import { Position } from '../graphql/scalars.js';
import { Watcher } from '../graphql/watcher.js';
import { PORTS, type ApiPorts } from '../ports.js';
import {
  Analysis,
  AnalysisEstimator,
  AnalysisRun,
  Progress,
  ShardConnection,
  ShardState,
  StartAnalysisInput,
  StateIdentityInput,
} from './analysis.object.js';
import { analysisById, shownComparison } from './analysis.reader.js';
import { Comparison } from './comparison.object.js';

/** Of one analysis. */
const MAX_RUNS = 100;

@Resolver(() => Analysis)
export class AnalysisResolver {
  constructor(
    @Inject(PORTS) private readonly ports: ApiPorts,
    @Inject(Watcher) private readonly watcher: Watcher,
  ) {}

  @Query(() => Analysis, { nullable: true })
  analysis(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    return analysisById(db, id);
  }

  @Mutation(() => Analysis, { description: 'Runs of one project. Asking for what is known already is free.' })
  @Needs('analyze')
  async startAnalysis(
    @Args('input', { type: () => StartAnalysisInput }) input: StartAnalysisInput,
    @Context() { db }: RequestContext,
  ) {
    const runs = await runsOf(input, db);
    const [first, ...others] = new Set(runs.map(({ projectId }) => projectId));
    if (others.length > 0) throw new RecreditError('request.invalid', 'an analysis speaks of runs of one project');
    const id = await startAnalysis(
      {
        pool: this.ports.platform,
        ...(this.ports.estimators && { estimators: this.ports.estimators }),
        plan: async (analysisId, transaction) =>
          void (await this.ports.queue.enqueue(planAnalysisJob, [{ analysisId }], { transaction })),
      },
      first ?? '',
      {
        runs: runs.map((run, i) => ({ id: run.id, asOf: input.runs[i].asOf ?? undefined })),
        estimators: input.estimators.map((wish) => ({ id: wish.id, params: paramsOf(wish.params) })),
        stateIdentity: identityOf(input.stateIdentity),
        steps: { from: input.firstStep ?? undefined, to: input.lastStep ?? undefined },
      },
    );
    return analysisById(db, id);
  }

  @Mutation(() => Analysis, { description: 'What is being computed ends by itself and is kept.' })
  @Needs('analyze')
  async cancelAnalysis(@Args('id', { type: () => ID }) id: string, @Context() { db }: RequestContext) {
    await mustSee(db, id);
    await cancelAnalysis(this.ports.platform, id);
    return analysisById(db, id);
  }

  @ResolveField(() => Progress)
  progress(@Parent() { id }: Analysis, @Context() { loaders }: RequestContext): Promise<ProgressRow> {
    return loaders.analysisProgress.load(id);
  }

  @ResolveField(() => Position, {
    nullable: true,
    description: 'Of its first run; see `runs` where there are several.',
  })
  async asOf(@Parent() { id }: Analysis, @Context() { loaders }: RequestContext) {
    return (await loaders.analysisRuns.load(id))[0]?.asOf ?? null;
  }

  @ResolveField(() => [AnalysisRun])
  runs(@Parent() { id }: Analysis, @Context() { loaders }: RequestContext) {
    return loaders.analysisRuns.load(id);
  }

  @ResolveField(() => [AnalysisEstimator])
  async estimators(
    @Parent() { id, chosen }: Analysis,
    @Context() { loaders }: RequestContext,
  ): Promise<AnalysisEstimator[]> {
    const notes = new Map((await loaders.estimatorNotes.load(id)).map((note) => [note.place, note]));
    const lacks = notes.values().some(({ missing }) => missing.length > 0);
    const recorded = lacks ? await recordedIn(id, loaders) : [];
    return chosen.map((estimator, i) => ({
      ...estimator,
      hash: estimator.hash ?? null,
      failures: [...(notes.get(i)?.failures ?? [])],
      inputsMissing: (notes.get(i)?.missing ?? []).map((missing) => ({
        ...missing,
        recordedAs: recordedInstead(missing.path, recorded),
      })),
      warnings: [...(notes.get(i)?.warnings ?? [])],
    }));
  }

  @ResolveField(() => Comparison, { nullable: true, description: 'null until the analysis has ended.' })
  async comparison(@Parent() analysis: Analysis, @Context() { loaders }: RequestContext) {
    const stored = await loaders.comparison.load(analysis.id);
    return stored && shownComparison(analysis, stored);
  }

  @ResolveField(() => ShardConnection, { description: 'By run and training step.' })
  shards(
    @Parent() { id }: Analysis,
    @Args('state', { type: () => ShardState, nullable: true }) state: ShardState | null | undefined,
    @Args() page: PageArgs,
    @Context() { loaders }: RequestContext,
  ) {
    return loaders.shards.load({ parent: id, page, filter: { state: state ?? null } });
  }

  @Subscription(() => Progress, {
    description: 'How far it is now, and again whenever it got further, until it ended.',
  })
  async analysisProgress(@Args('analysis', { type: () => ID }) id: string, @Context() context: RequestContext) {
    const { db } = context;
    await mustSee(db, id);
    const look = async () => ({ analysisProgress: await progressOf(queryable(db), id) });
    const isLast = ({ analysisProgress: { state } }: { analysisProgress: ProgressRow }) =>
      state !== 'planning' && state !== 'running';
    return this.watcher.watch({ channel: PROGRESS_CHANNEL, id, look, isLast }, context);
  }
}

/** @throws RecreditError `run.unknown`, `request.invalid` where one is named twice */
async function runsOf({ runs: wanted }: StartAnalysisInput, db: RequestContext['db']): Promise<RegisteredRun[]> {
  if (wanted.length > MAX_RUNS) {
    throw new RecreditError('request.invalid', `runs: up to ${MAX_RUNS} were wanted, found ${wanted.length}`);
  }
  const runs: RegisteredRun[] = [];
  for (const { run } of wanted) {
    const found = await findRun(db, run);
    if (runs.some(({ id }) => id === found.id))
      throw new RecreditError('request.invalid', `runs: ${run} is there twice`);
    runs.push(found);
  }
  return runs;
}

/** @throws RecreditError `request.invalid` */
function identityOf(input: StateIdentityInput | null | undefined): ChosenIdentity | undefined {
  if (!input) return undefined;
  const said = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
  const identity = ChosenIdentity.safeParse(said);
  if (identity.success) return identity.data;
  const [{ path, message }] = identity.error.issues;
  throw new RecreditError(
    'request.invalid',
    `stateIdentity${path.map((name) => `.${String(name)}`).join('')}: ${message}`,
  );
}

/** The paths of the signals that the runs of an analysis carry. */
async function recordedIn(analysis: string, loaders: RequestContext['loaders']): Promise<string[]> {
  const runs = await loaders.analysisRuns.load(analysis);
  const signals = await loaders.signals.loadMany(runs.map(({ run }) => run));
  return signals.flatMap((each) => (each instanceof Error ? [] : each.map(({ level, name }) => `${level}.${name}`)));
}

async function mustSee(db: RequestContext['db'], id: string): Promise<void> {
  if (await analysisById(db, id)) return;
  throw new RecreditError('analysis.unknown', `no analysis ${id} among those you see`);
}

function paramsOf(params: unknown): Readonly<Record<string, unknown>> {
  if (params === null || params === undefined) return {};
  if (typeof params === 'object' && !Array.isArray(params)) return params as Record<string, unknown>;
  throw new RecreditError('params.invalid', `params: an object was wanted, found ${JSON.stringify(params)}`);
}
