import { BodyChecks, startApi } from '#app/api';
import { Authenticator, confine, createKey, ensureProject } from '#lib/access';
import { EventLog } from '#lib/event-log';
import { openPool, openSegmentStore } from '#lib/storage';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';

/** The API alone on a database, for what is measured without workers beside it: <database url>. Ends with its parent. */
const [databaseUrl] = process.argv.slice(2);
const pool = openPool(databaseUrl, { role: 'recredit_app', size: 10 });
const platform = openPool(databaseUrl, { role: 'recredit_app', projects: '*', size: 10 });
const everything = confine(pool, '*');
await ensureProject(everything, 'default');
const { text: key } = await createKey(everything, { projectId: null, name: 'bench', roles: ['admin'] });
const ports = {
  pool,
  platform,
  log: new EventLog(platform),
  store: await openSegmentStore(pathToFileURL(tmpdir()).href),
  queue: { enqueue: async () => 0, depths: async () => [] },
  authenticator: new Authenticator(pool),
  bodyChecks: new BodyChecks(),
};
const { url } = await startApi(ports, { host: '127.0.0.1', port: 0, logger: pino({ level: 'silent' }) });
process.once('disconnect', () => process.exit(0));
process.send?.({ url, key });
