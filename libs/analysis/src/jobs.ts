import { defineJob } from '#lib/queue';
import { z } from 'zod';
import { failAnalysis } from './finish-analysis.js';
import { planAnalysis, type PlanPorts } from './plan-analysis.js';
import { failShard, runShard, type ShardPorts } from './shard-job.js';

const Shard = z.object({ analysisId: z.string(), runId: z.string(), trainingStep: z.int() });

/** Makes the shards of an analysis, once the projector has come to its request. */
export const planAnalysisJob = defineJob({
  name: 'plan-analysis',
  payload: z.object({ analysisId: z.string() }),
  key: ({ analysisId }) => analysisId,
  retryLimit: 2,
  run: ({ analysisId }, ports: PlanPorts, { signal }) => planAnalysis({ ...ports, signal }, analysisId),
  failed: ({ analysisId }, reason, { pool }) => failAnalysis(pool, analysisId, reason),
});

/** Computes one shard of an analysis. */
export const computeShardJob = defineJob({
  name: 'compute-shard',
  payload: Shard,
  key: ({ analysisId, runId, trainingStep }) => `${analysisId}/${runId}/${trainingStep}`,
  retryLimit: 2,
  run: (shard, ports: ShardPorts) => runShard(ports, shard),
  failed: (shard, reason, ports) => failShard(ports, shard, reason),
});
