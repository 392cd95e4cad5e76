import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createApi, letRequestsDieYoung, weighBuffersWithHeap } from '#app/api';
import { Authenticator, confine, createKey } from '#lib/access';
import { EventLog } from '#lib/event-log';
import { openPool, openSegmentStore } from '#lib/storage';
import { pino } from 'pino';
import { withDatabase } from './bench-database.js';
import type { Recording } from './recorded-run.js';

export interface ApiHere extends Recording {
  readonly app: Awaited<ReturnType<typeof createApi>>;
  /** an admin's */
  readonly key: string;
  /** of the database, by requests; whoever counts sets it to 0 */
  readonly asked: { statements: number };
}

/** The API in this process, on a database and a segment store of its own, for as long as `work` takes. */
export function withApiHere<T>(work: (api: ApiHere) => Promise<T>): Promise<T> {
  return withDatabase(async (url) => {
    weighBuffersWithHeap(); // as where the API is started
    letRequestsDieYoung();
    const folder = await mkdtemp(join(tmpdir(), 'recredit-bench-'));
    const owner = openPool(url, { size: 2 });
    const platform = openPool(url, { role: 'recredit_app', projects: '*', size: 8 });
    const pool = openPool(url, { role: 'recredit_app', size: 8 });
    const asked = { statements: 0 };
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      client.query = ((...args: unknown[]) => {
        asked.statements++;
        return query(...args);
      }) as typeof client.query;
    });
    const log = new EventLog(platform, { notify: false });
    const store = await openSegmentStore(pathToFileURL(folder).href);
    const queue = { enqueue: async () => 0, depths: async () => [] };
    const ports = { pool, platform, log, store, queue, authenticator: new Authenticator(pool) };
    const app = await createApi(ports, pino({ level: 'silent' }));
    try {
      const named = { projectId: null, name: 'bench', roles: ['admin' as const] };
      const { text: key } = await createKey(confine(pool, '*'), named);
      return await work({ owner, platform, log, store, app, key, asked });
    } finally {
      await app.close();
      await log.close();
      await Promise.all([pool.end(), platform.end(), owner.end()]);
      await rm(folder, { recursive: true, force: true });
    }
  });
}
