import { createHash, randomBytes } from 'node:crypto';
import { newId } from '#lib/kernel';
import type { Pool } from '#lib/storage';

/** A project of its own for one `it`. @returns its id */
export async function aProject(owner: Pool, name = `project-${newId()}`): Promise<string> {
  const id = newId();
  await owner.query('insert into project (id, name) values ($1, $2)', [id, name]);
  return id;
}

/** A registered run, in a project of its own unless one is given. @returns its id */
export async function aRun(owner: Pool, { project, name }: { project?: string; name?: string } = {}): Promise<string> {
  const id = newId();
  const projectId = project ?? (await aProject(owner));
  await owner.query('insert into run (id, project_id, name) values ($1, $2, $3)', [id, projectId, name ?? `run-${id}`]);
  return id;
}

/** A key as a client holds it. `project: null` is of every project. */
export async function aKey(
  owner: Pool,
  { project, roles }: { project: string | null; roles: readonly string[] },
): Promise<string> {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(24).toString('hex');
  const hash = createHash('sha256').update(secret).digest();
  await owner.query('insert into api_key (id, project_id, name, roles, secret_hash) values ($1, $2, $3, $4, $5)', [
    id,
    project,
    'spec',
    roles,
    hash,
  ]);
  return `rk_${id}_${secret}`;
}
