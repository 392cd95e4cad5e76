import { defineJob } from '#lib/queue';
import { z } from 'zod';
import { auditRun, failAudit, type AuditPorts } from './audit-run.js';
import { diagnoseRun, measureSteps, type DiagnosePorts } from './diagnose-run.js';
import { failNearest, findNearest, type NearestPorts } from './nearest-turns.js';
import { stepRevisions } from './step-revisions.js';

/** Brings the diagnosis of one run up to date. */
export const diagnoseRunJob = defineJob({
  name: 'diagnose-run',
  payload: z.object({ runId: z.string(), isFinal: z.boolean() }),
  key: ({ runId }) => runId,
  retryLimit: 2,
  run: ({ runId, isFinal }, ports: DiagnosePorts, { signal }) => diagnoseRun({ ...ports, signal }, runId, isFinal),
});

/** Measures what a run was as of an earlier position, so that it can be read as of it. */
export const measureAsOfJob = defineJob({
  name: 'measure-as-of',
  payload: z.object({ runId: z.string(), asOf: z.int().nonnegative() }),
  key: ({ runId, asOf }) => `${runId}/${asOf}`,
  retryLimit: 2,
  run: async ({ runId, asOf }, ports: DiagnosePorts, { signal }) =>
    measureSteps({ ...ports, signal }, runId, asOf, await stepRevisions(ports.pool, runId, asOf)),
});

/** Audits a run. */
export const auditRunJob = defineJob({
  name: 'audit-run',
  payload: z.object({ auditId: z.string() }),
  key: ({ auditId }) => auditId,
  retryLimit: 2,
  run: ({ auditId }, ports: AuditPorts, { signal }) => auditRun({ ...ports, signal }, auditId),
  failed: ({ auditId }, reason, { pool }) => failAudit(pool, auditId, reason),
});

/** Searches a run for turns like one of its turns. */
export const findNearestTurnsJob = defineJob({
  name: 'find-nearest-turns',
  payload: z.object({ nearestId: z.string() }),
  key: ({ nearestId }) => nearestId,
  retryLimit: 2,
  run: ({ nearestId }, ports: NearestPorts, { signal }) => findNearest({ ...ports, signal }, nearestId),
  failed: ({ nearestId }, reason, { pool }) => failNearest(pool, nearestId, reason),
});
