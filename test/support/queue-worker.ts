// A worker process for queue.int-spec.ts: <url> <job> <its name> <how long a job takes>.
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, Queue } from '#lib/queue';
import { Client } from 'pg';
import { z } from 'zod';

const [url, jobName, worker, ms] = process.argv.slice(2);
const client = new Client(url);
await client.connect();

const job = defineJob({
  name: jobName ?? '',
  payload: z.strictObject({ key: z.string() }),
  key: ({ key }) => key,
  retryLimit: 2,
  retryDelaySeconds: 0,
  run: async ({ key }) => {
    await client.query('insert into done (key, worker) values ($1, $2)', [key, worker]);
    process.send?.('begun');
    await sleep(Number(ms));
    await client.query('update done set ended = clock_timestamp() where key = $1 and worker = $2', [key, worker]);
  },
});

const queue = new Queue(url ?? '');
await queue.start();
await queue.work(job, null);
process.once('SIGTERM', () => void queue.stop({ patienceMs: 1000 }).then(() => process.exit(0)));
