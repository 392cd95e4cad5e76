export { type AlertEdge } from './alerts.js';
export { diagnoseRun, measureSteps, readDiagnosis, type DiagnosePorts, type RunDiagnosis } from './diagnose-run.js';
export { diagnoseRunJob } from './jobs.js';
export { measureTask, type MeasuredDiagnostic, type MeasureTask } from './measure-step.js';
export { runsToDiagnose, type RunToDiagnose } from './runs-to-diagnose.js';
export { stepRevisions, type StepRevision } from './step-revisions.js';
