import { DataSource, type DataSourceOptions } from 'typeorm';

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
  });
}
