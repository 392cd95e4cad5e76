import { defineJob } from '#lib/queue';
import { z } from 'zod';
import { deliver, giveUp, type DeliverPorts } from './deliver.js';

/** Tells one webhook of one alert. 15 further tries, each after about twice the time: over 18 to 36 hours. */
export const deliverWebhookJob = defineJob({
  name: 'deliver-webhook',
  payload: z.object({ webhook: z.string(), alert: z.string() }),
  key: ({ webhook, alert }) => `${webhook}/${alert}`,
  retryLimit: 15,
  retryDelaySeconds: 2,
  run: (telling, ports: DeliverPorts, { signal }) => deliver(ports, telling, signal),
  failed: (telling, _reason, { pool }) => giveUp(pool, telling),
});
