import { defineJob } from '#lib/queue';
import { z } from 'zod';
import { diagnoseRun, type DiagnosePorts } from './diagnose-run.js';

/** Brings the diagnosis of one run up to date. */
export const diagnoseRunJob = defineJob({
  name: 'diagnose-run',
  payload: z.object({ runId: z.string(), isFinal: z.boolean() }),
  key: ({ runId }) => runId,
  retryLimit: 2,
  run: ({ runId, isFinal }, ports: DiagnosePorts, { signal }) => diagnoseRun({ ...ports, signal }, runId, isFinal),
});
