import type { Confined, Project } from '#lib/access';
import type { Key, Order } from '../graphql/cursor.js';

const COLUMNS = 'id, name, created_at as "createdAt", retention_days as "retentionDays"';

export const BY_NAME: Order<Project> = { parts: ['text'], keyOf: ({ name }) => [name] };

/** By name. */
export function projectsByName(db: Confined, limit: number, after: Key | null): Promise<Project[]> {
  return db.query<Project>(
    `select ${COLUMNS} from project
     where $2::text is null or name > $2 order by name limit $1`,
    [limit, after?.[0] ?? null],
  );
}

export async function projectNamed(db: Confined, name: string): Promise<Project | null> {
  const [project] = await db.query<Project>(`select ${COLUMNS} from project where name = $1`, [name]);
  return project ?? null;
}
