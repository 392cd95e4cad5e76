import type { Queryable } from '#lib/storage';

/** Rows that were put back have the numbers they had: counting goes on after the greatest of them. */
export async function advanceSequences(db: Queryable, tables: readonly string[]): Promise<void> {
  const { rows } = await db.query(
    `select format('select setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 1), max(%I) is not null) from %I',
       relname, attname, attname, attname, relname) as statement
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relname = any ($1) and attidentity <> '' and not attisdropped`,
    [tables],
  );
  for (const { statement } of rows) await db.query(statement);
}
