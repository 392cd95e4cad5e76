export { type AlertEdge } from './alerts.js';
export { diagnoseRun, measureSteps, readDiagnosis, type DiagnosePorts } from './diagnose-run.js';
export { diagnoseRunJob, measureAsOfJob } from './jobs.js';
export type { RunDiagnosis } from './kept-diagnosis.js';
export { measureTask, type MeasuredDiagnostic, type MeasureTask } from './measure-step.js';
export { runsToDiagnose, type RunToDiagnose } from './runs-to-diagnose.js';
export { stepRevisions, type StepRevision } from './step-revisions.js';
