import { DataSource, type DataSourceOptions, type Logger } from 'typeorm';

export type DataSourceParts = {
  readonly entities?: DataSourceOptions['entities'];
  readonly migrations?: readonly (new () => object)[];
  readonly applicationName?: string;
};

/** TypeORM's view of the database: plain columns, never a schema of its own making. Its pool is `driver.master`. */
export function dataSource(
  url: string,
  { entities = [], migrations = [], applicationName = 'recredit' }: DataSourceParts = {},
): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities,
    migrations: [...migrations] as (new () => object)[] as never,
    migrationsTableName: 'schema_migration',
    synchronize: false,
    installExtensions: false,
    applicationName,
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
