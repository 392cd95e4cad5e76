import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Authenticator } from '#lib/access';
import { EventLog } from '#lib/event-log';
import { openPool } from '#lib/storage';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../test/support/database.js';
import { UNUSED_PORTS } from '../../../test/support/unused-ports.js';
import { startApi } from './api.js';

it('gives its connections back when its port is taken, so that who started it can stop', async () => {
  const db = await testDatabase();
  const pool = openPool(db.url, { role: 'recredit_app', size: 2 });
  const platform = openPool(db.url, { role: 'recredit_app', projects: '*', size: 4 });
  const log = new EventLog(platform);
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;

  const ports = { ...UNUSED_PORTS, pool, platform, log, authenticator: new Authenticator(pool) };
  const started = startApi(ports, { host: '127.0.0.1', port, logger: pino({ level: 'silent' }) });
  await expect(started).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await log.close();
  await Promise.all([platform.end(), pool.end()]); // waits for ever while a connection is held
  holder.close();
  await db.drop();
});
