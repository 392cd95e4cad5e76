import { READ_MODEL_TABLES } from '#lib/projection';
import type { PoolClient } from '#lib/storage';

/** Made of the log by workers, or by the migrations. */
const MADE_AGAIN: readonly string[] = [
  ...READ_MODEL_TABLES,
  'diagnostic_figures',
  'diagnostic_reading',
  'diagnostic_reading_part',
  'diagnosis',
  'schema_migration',
];

/**
 * The tables that nothing else can be made of, each after those that its rows name: whatever is not known to be made
 * again is kept.
 */
export async function keptTables(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string; names: string[] }>(
    `select relname::text as name, array(
       select distinct target.relname::text from pg_constraint join pg_class target on target.oid = confrelid
       where conrelid = pg_class.oid and contype = 'f' and confrelid <> pg_class.oid
     ) as names
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all ($1) order by relname`,
    [MADE_AGAIN],
  );
  const ordered: string[] = [];
  while (ordered.length < rows.length) {
    const ready = rows.filter(
      ({ name, names }) => !ordered.includes(name) && names.every((each) => ordered.includes(each)),
    );
    if (ready.length === 0)
      throw new TypeError('tables that name each other, or one that is not kept, cannot be put back');
    ordered.push(...ready.map(({ name }) => name));
  }
  return ordered;
}
