export { agentProcessBench, type AgentProcessBench, type LabelAgreement } from './annotators/agent-process-bench.js';
export {
  raterAgreement,
  type Rater,
  type RaterAgreement,
  type RaterBenchmark,
  type RaterReport,
  type RaterSummary,
} from './annotators/rater-agreement.js';
export { processBench, type ProcessBench } from './annotators/process-bench.js';
export { alertsOf, HOLD, type Alert, type AlertLevel, type AlertRule, type Condition } from './alerts.js';
export { auditStep, type Claim, type Logged, type StepAudit, type Verdict, type WorstRow } from './audit/audit-step.js';
export { claimOf, type ClaimedEstimator } from './audit/claim-of.js';
export type { Explanation } from './audit/explain.js';
export { otherEstimators } from './audit/other-estimators.js';
export { OUTCOME_FORMULAS, type OutcomeFormula } from './audit/outcome-formulas.js';
export { runAudit, type Finding, type RunAudit } from './audit/run-audit.js';
export { TURN_FORMULAS, turnRewards, type TurnFormula } from './audit/turn-formulas.js';
export { DIAGNOSTICS } from './catalogue/index.js';
export { EARLIER_CHECKPOINTS, type Checkpoint, type CheckpointInRun } from './checkpoints.js';
export {
  comparisonDifference,
  type ComparedAnalysis,
  type ComparisonDifference,
  type NumberDifference,
} from './comparison-difference.js';
export {
  comparisonTable,
  type AgreementMeasure,
  type ComparisonRow,
  type ComparisonTable,
} from './comparison-table.js';
export { BOOTSTRAP, type BootstrapOptions } from './comparison/bootstrap.js';
export type { AnnotatorDependence, LabelScore } from './comparison/annotators.js';
export {
  comparisonOf,
  type ComparedEstimator,
  type Comparison,
  type GradientEffect,
  type SampleSize,
} from './comparison/comparison.js';
export { concentration, type Concentration } from './comparison/concentration.js';
export type { CreditProfile } from './comparison/credit-profile.js';
export type { TruthAgreement } from './comparison/credit-vs-truth.js';
export type { DisputedTurn } from './comparison/disputes.js';
export { decodeSummary, encodeSummary } from './comparison/encode-summary.js';
export type { EstimatorAgreement } from './comparison/estimator-agreement.js';
export type { HistogramBin } from './comparison/histogram.js';
export type { LearningSignal } from './comparison/learning-signal.js';
export {
  defineDiagnostic,
  MAX_EVIDENCE,
  type AnyDiagnostic,
  type Diagnostic,
  type Evidence,
  type Measured,
  type Reading,
  type StepValues,
  type TrainingStepData,
  type Values,
} from './diagnostic.js';
export { GOLDEN_DIAGNOSTICS, goldenValues, type GoldenInput } from './golden-values.js';
export { MEASURES, type Measure } from './comparison/measures.js';
export { LOGPROBS } from './comparison/gradient.js';
export { mergeSummaries, NO_SUMMARY } from './comparison/merge-summaries.js';
export { sampleAsksForTokens, sampleRateFor } from './comparison/sample.js';
export { stabilitySums, type CreditStability, type StabilitySums } from './comparison/stability.js';
export type { TagAgreement, TaggedPair } from './comparison/tag-agreement.js';
export {
  batchWithout,
  jackknifeStability,
  leaveGroupsOut,
  leaveOneTrajectoryOut,
  type JackknifeRound,
  type JackknifeStability,
} from './jackknife-stability.js';
export type { ShardSummary } from './comparison/shard-summary.js';
export { summarizeShard, type ShardToSummarize } from './comparison/summarize-shard.js';
export { processOutcome, type ProcessOutcomeParams, type ProcessOutcomeRows } from './process-outcome.js';
export { measureStep, readRun, unreadable, type Diagnosis, type StepOutcome } from './run-diagnostic.js';
export {
  RESTART_DEFAULTS,
  restartStates,
  type PrefixAdvice,
  type RestartParams,
  type RestartState,
  type RestartStates,
} from './restart-states.js';
export {
  planOf,
  type DroppedTask,
  type Plan,
  type PlannedFailure,
  type PlannedRestart,
  type PlannedShare,
  type PlannedStart,
  type PlannedTask,
} from './plan.js';
export {
  checkSettings,
  settingNames,
  settingsOf,
  settingsSchema,
  type DiagnosticSettings,
  type Settings,
} from './settings.js';
export { runHealth, type HealthLine, type PlateauCause, type RunHealth } from './run-health.js';
export { TRACE_DEFAULTS, traceAllocation, type TraceAllocation, type TraceParams } from './trace-allocation.js';
export type { Anchor } from './anchors.js';
export { successOf } from './groups.js';
