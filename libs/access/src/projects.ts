import { newId, RecreditError } from '#lib/kernel';
import type { Confined } from './confine.js';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** its runs are erased so long after they ended and were quiet; null: never */
  readonly retentionDays: number | null;
}

/** A hundred years are for ever. */
export const MAX_RETENTION_DAYS = 36_500;

const COLUMNS = 'id, name, created_at as "createdAt", retention_days as "retentionDays"';

/** The project of that name, made when there is none yet; only who sees every project may make one. */
export async function ensureProject(db: Confined, name: string): Promise<Project> {
  const there = await projectNamed(db, name);
  if (there) return there;
  if (db.projects !== '*') throw unknownProject(name);
  const [made] = await db.query<Project>(
    `insert into project (id, name) values ($1, $2) on conflict (name) do nothing returning ${COLUMNS}`,
    [newId(), name],
  );
  return made ?? (await findProject(db, name)); // somebody was faster
}

/** By name or id, among those the caller sees. */
export async function findProject(db: Confined, nameOrId: string): Promise<Project> {
  const [project] = await db.query<Project>(
    `select ${COLUMNS} from project where id = $1 or name = $1 order by id = $1 desc limit 1`,
    [nameOrId],
  );
  if (!project) throw unknownProject(nameOrId);
  return project;
}

/** How long the runs of a project are kept. @param days null: for ever */
export async function setRetention(db: Confined, nameOrId: string, days: number | null): Promise<Project> {
  if (days !== null && !(Number.isInteger(days) && days >= 1 && days <= MAX_RETENTION_DAYS)) {
    throw new RecreditError(
      'request.invalid',
      `retention: 1 to ${MAX_RETENTION_DAYS} days, or null for ever, was wanted, found ${days}`,
    );
  }
  const { id } = await findProject(db, nameOrId);
  const [project] = await db.query<Project>(
    `update project set retention_days = $2 where id = $1 returning ${COLUMNS}`,
    [id, days],
  );
  return project;
}

async function projectNamed(db: Confined, name: string): Promise<Project | null> {
  const [project] = await db.query<Project>(`select ${COLUMNS} from project where name = $1`, [name]);
  return project ?? null;
}

const unknownProject = (name: string) =>
  new RecreditError('project.unknown', `no project ${name} among those you see`, { project: name });
