import { defineJob } from '#lib/queue';
import { z } from 'zod';
import { eraseExpired, type ExpiryPorts } from './erase-expired.js';
import { finishErasure, type ErasurePorts } from './finish-erasure.js';

/** Takes away what an erased run still has. Where all tries failed, the next look for expired runs begins again. */
export const eraseRunJob = defineJob({
  name: 'erase-run',
  payload: z.object({ runId: z.string() }),
  key: ({ runId }) => runId,
  retryLimit: 5,
  run: ({ runId }, ports: ErasurePorts, { signal }) => finishErasure(ports, runId, signal),
});

/** Looks for runs that their projects keep no longer. */
export const eraseExpiredJob = defineJob({
  name: 'erase-expired',
  payload: z.object({}),
  key: () => 'all projects',
  retryLimit: 0,
  run: (_, ports: ExpiryPorts) => eraseExpired(ports),
});
