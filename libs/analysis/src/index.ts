export { cancelAnalysis } from './cancel-analysis.js';
export { computeShard, TRUTHS } from './compute-shard.js';
export { shardCredits, type ShardCredit } from './credit-reader.js';
export { mergedComparison } from './finish-analysis.js';
export { computeShardJob, planAnalysisJob } from './jobs.js';
export { planAnalysis, SAMPLED_TURNS, type PlanPorts, type ShardAddress } from './plan-analysis.js';
export { PROGRESS_CHANNEL, progressOf, type AnalysisState, type Progress } from './progress.js';
export {
  chooseEstimators,
  estimatorOf,
  type AnalysisRequest,
  type ChosenEstimator,
  type EstimatorWish,
} from './request.js';
export { runShard, type ShardPorts } from './shard-job.js';
export { creditFileKey, type MissingSignal, type ShardAnswer, type ShardTask } from './shard-task.js';
export { startAnalysis, type StartPorts } from './start-analysis.js';
