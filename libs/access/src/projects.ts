import { newId, RecreditError } from '#lib/kernel';
import type { Confined } from './confine.js';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

const COLUMNS = 'id, name, created_at as "createdAt"';

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

async function projectNamed(db: Confined, name: string): Promise<Project | null> {
  const [project] = await db.query<Project>(`select ${COLUMNS} from project where name = $1`, [name]);
  return project ?? null;
}

const unknownProject = (name: string) =>
  new RecreditError('project.unknown', `no project ${name} among those you see`, { project: name });
