import { randomBytes } from 'node:crypto';
import { openPool, type Pool } from '#lib/storage';
import { inject } from 'vitest';
import { databaseUrl, TEMPLATE } from './database-url.js';

export interface TestDatabase {
  /** as owner */
  readonly url: string;
  /** as owner: sees and may do everything */
  readonly ownerPool: Pool;
  /** as the platform works for itself: role recredit_app, every project visible */
  readonly pool: Pool;
  /** as it works for a caller, to be confined: role recredit_app, nothing visible before that */
  readonly callerPool: Pool;
  drop(): Promise<void>;
}

/** A database of its own for a spec file, cloned from the migrated template. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `spec_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  const url = databaseUrl(server, name);
  const ownerPool = openPool(url, { size: 5, applicationName: 'spec owner' });
  const pool = openPool(url, { role: 'recredit_app', projects: '*', size: 10, applicationName: 'spec' });
  const callerPool = openPool(url, { role: 'recredit_app', size: 10, applicationName: 'spec caller' });
  return {
    url,
    ownerPool,
    pool,
    callerPool,
    drop: async () => {
      await Promise.all([pool.end(), callerPool.end(), ownerPool.end()]);
      await administer(server, `drop database ${name} with (force)`);
    },
  };
}

async function administer(url: string, sql: string): Promise<void> {
  const admin = openPool(url, { size: 1, applicationName: 'spec administration' });
  try {
    await admin.query(sql);
  } finally {
    await admin.end();
  }
}
