import {
  auditRun,
  auditTask,
  diagnoseRun,
  measureSteps,
  measureTask,
  stepRevisions,
  startAudit,
  type AuditTask,
  type MeasureTask,
} from '#lib/diagnosis';
import { computeShard, planAnalysis, runShard, startAnalysis, type ShardAddress } from '#lib/analysis';
import { comparisonOf, decodeSummary } from '#lib/diagnostics';
import { EventLog, sealBatch } from '#lib/event-log';
import { newId } from '#lib/kernel';
import { Projector } from '#lib/projection';
import type { Pool, SegmentStore } from '#lib/storage';
import { madeRecords, ndjsonOf } from './made-records.js';

const GROUP = 64;
const TURNS_OF_TRAJECTORY = 20;
/** Whose diagnostics are measured, and which are audited. */
const MEASURED_STEPS = 10;
export const TURNS_OF_GROUP = GROUP * TURNS_OF_TRAJECTORY;

/** Where a run is recorded. */
export interface Recording {
  readonly owner: Pool;
  readonly platform: Pool;
  readonly log: EventLog;
  readonly store: SegmentStore;
}

export interface RecordedRun {
  readonly id: string;
  readonly project: string;
  readonly steps: number;
  readonly turns: number;
  readonly events: number;
}

/** A run of whole trajectories, some groups of 64 x 20 turns in each training step, and its metrics; projected. */
export async function recordRun(
  { owner, platform, log, store }: Recording,
  steps: number,
  groups: number,
): Promise<RecordedRun> {
  const [project, run] = [newId(), newId()];
  await owner.query('insert into project (id, name) values ($1, $1)', [project]);
  await owner.query('insert into run (id, project_id, name) values ($1, $2, $1)', [run, project]);
  const made = madeRecords(groups * GROUP);
  const at = new Date(0).toISOString();
  const projector = new Projector({ pool: platform, store });
  for (let step = 0, sequence = 0; step < steps; step++) {
    for (let group = 0; group < groups; group++, sequence++) {
      const events: object[] = made.slice(group * GROUP, (group + 1) * GROUP).map((record, i) => ({
        type: 'trajectory.recorded',
        at,
        ...record,
        turns: [...record.turns, ...record.turns].slice(0, TURNS_OF_TRAJECTORY),
        id: `${step}-${group}-${i}`,
        group: `g${group}`,
        trainingStep: step,
      }));
      if (group === 0) events.push({ type: 'trainingStep.recorded', at, trainingStep: step, metrics: metricsAt(step) });
      const ndjson = ndjsonOf(events);
      await log.append(
        run,
        await sealBatch({ producerId: 'b', epoch: 0, sequence, ndjson, eventCount: events.length }),
      );
    }
    if (step % 20 === 19) await projector.projectRun(run);
  }
  await projector.projectRun(run);
  await projector.stop();
  return { id: run, project, steps, turns: steps * groups * TURNS_OF_GROUP, events: steps * (groups * GROUP + 1) };
}

/** An analysis of the first ten training steps by three estimators, done. */
export async function analyseRun(platform: Pool, store: SegmentStore, run: RecordedRun) {
  const estimators = ['grpo', 'gigpo', 'rloo'].map((id) => ({ id }));
  const request = { runs: [{ id: run.id }], estimators, steps: { from: 0, to: 9 } };
  const analysis = await startAnalysis({ pool: platform, plan: async () => {} }, run.project, request);
  const projector = new Projector({ pool: platform, store });
  await projector.projectRun(run.id);
  const waiting: ShardAddress[] = [];
  const conclude = async (summary: Uint8Array) => comparisonOf(decodeSummary(summary));
  await planAnalysis({ pool: platform, conclude, compute: async (shards) => void waiting.push(...shards) }, analysis);
  const discard = async (keys: readonly string[]) => void (await Promise.all(keys.map((key) => store.delete(key))));
  const ports = {
    pool: platform,
    conclude,
    discard,
    compute: (task: Parameters<typeof computeShard>[1]) => computeShard(store, task),
  };
  for (const shard of waiting) await runShard(ports, shard);
  await projector.stop();
  return analysis;
}

/**
 * What workers do of a run's diagnosis and of an audit, done for its last and its first training steps alone: measuring
 * takes longer than all else here, and is not what is asked for.
 *
 * @returns the audit
 */
export async function diagnoseAndAudit(platform: Pool, store: SegmentStore, run: RecordedRun): Promise<string> {
  const ports = { pool: platform, alerted: async () => {} };
  const steps = await stepRevisions(platform, run.id, run.events);
  const measure = (task: MeasureTask) => measureTask(store, task);
  await measureSteps({ ...ports, measure }, run.id, run.events, steps.slice(-MEASURED_STEPS));
  await diagnoseRun({ ...ports, measure: async () => [] }, run.id, true);
  const claim = { estimator: 'grpo', signal: 'exactAdvantage' };
  const asOf = Math.ceil((run.events * MEASURED_STEPS) / Math.max(run.steps, MEASURED_STEPS));
  const audit = await startAudit({ pool: platform, queue: async () => {} }, run.id, { ...claim, asOf });
  await auditRun({ pool: platform, audit: (task: AuditTask) => auditTask(store, task) }, audit);
  return audit;
}

const metricsAt = (step: number) => ({
  loss: 1 / (1 + step / 100),
  entropy: 2 - Math.min(1.5, step / 500),
  gradNorm: 1 + Math.sin(step / 10) / 4,
  score: step / 1000,
});
