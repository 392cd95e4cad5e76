import type { Confined } from '#lib/access';
import type { Queryable } from '#lib/storage';

/** A confined database for the readers of the libs, which know of no confinement. */
export function queryable(db: Confined): Queryable {
  return {
    query: async (sql, params) => {
      const rows = await db.query(sql, params);
      return { rows, rowCount: rows.length };
    },
    binary: (sql, params, columns) => db.binary(sql, params, columns),
  };
}
