// A process to be killed, for alert-webhooks.int-spec.ts: <url> raise <run> <alert's reading> | <url> deliver.
import { deliverWebhookJob } from '#lib/webhooks';
import { openPool } from '#lib/storage';
import { Queue } from '#lib/queue';
import { raiseAlerts } from '../../libs/diagnosis/src/alerts.js';

const [url = '', task, run = '', reading = ''] = process.argv.slice(2);
const pool = openPool(url, { role: 'recredit_app', projects: '*', size: 3 });
if (task === 'raise') {
  await raiseAlerts(pool, run, { asOf: 1, settingsVersion: 0, readings: [JSON.parse(reading)] });
  process.kill(process.pid, 'SIGKILL'); // the edge is kept, and nobody was told
} else {
  const queue = new Queue(url);
  await queue.start();
  await queue.work(deliverWebhookJob, { pool });
}
