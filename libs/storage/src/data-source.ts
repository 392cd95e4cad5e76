import type { DataSource, Logger, MigrationInterface } from 'typeorm';

/**
 * TypeORM's view of the database, without entities and never with a schema of its own making. Loaded when it is asked for:
 * threads that compute, and most commands, never do.
 */
export async function dataSource(
  url: string,
  migrations: readonly (new () => MigrationInterface)[],
): Promise<DataSource> {
  const typeorm = await import('typeorm');
  return new typeorm.DataSource({
    type: 'postgres',
    url,
    migrations: [...migrations],
    migrationsTableName: 'schema_migration',
    synchronize: false,
    installExtensions: false,
    applicationName: 'recredit',
    poolErrorHandler: () => {},
    logger: SILENT,
  });
}

/** Even with logging off TypeORM prints failed migrations on the terminal; what fails is thrown, and that is enough. */
const SILENT: Logger = {
  logQuery: () => {},
  logQueryError: () => {},
  logQuerySlow: () => {},
  logSchemaBuild: () => {},
  logMigration: () => {},
  log: () => {},
};
