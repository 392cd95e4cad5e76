import { newId, RecreditError } from '#lib/kernel';
import type { Confined } from './confine.js';
import { findProject } from './projects.js';

/** A run as it was registered; what became of it is in its stream. */
export interface RegisteredRun {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  /** null: not erased */
  readonly erasedAt: Date | null;
}

export interface RunRequest {
  /** name or id */
  readonly project: string;
  readonly name: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** the caller's own word for this one request, the same when it is sent again */
  readonly idempotencyKey?: string;
}

const COLUMNS = `run.id, run.project_id as "projectId", run.name, run.config, run.created_at as "createdAt",
  (select requested_at from run_erasure where run_id = run.id) as "erasedAt"`;

/**
 * Registers a run under its name, once. The same request again gives the same run: the same Idempotency-Key, or none
 * and an equal config. Whoever else asks for the name is refused.
 */
export async function registerRun(
  db: Confined,
  request: RunRequest,
): Promise<{ run: RegisteredRun; created: boolean }> {
  const { id: projectId } = await findProject(db, request.project);
  const config = JSON.stringify(request.config ?? {});
  const key = request.idempotencyKey ?? null;
  const [made] = await db.query<RegisteredRun>(
    `insert into run (id, project_id, name, config, idempotency_key) values ($1, $2, $3, $4, $5)
     on conflict (project_id, name) do nothing returning ${COLUMNS}`,
    [newId(), projectId, request.name, config, key],
  );
  if (made) return { run: made, created: true };

  const [there] = await db.query<RegisteredRun & { same: boolean }>(
    `select ${COLUMNS}, case when $4::text is null then config = $3::jsonb else idempotency_key is not distinct from $4 end as same
     from run where project_id = $1 and name = $2`,
    [projectId, request.name, config, key],
  );
  if (there) assertNotErased(there);
  if (!there?.same) {
    const why = key === null ? 'with another config' : 'by another request (its Idempotency-Key differs)';
    throw new RecreditError(
      'run.conflicting',
      `a run ${request.name} was created before, ${why}: choose another name`,
      {
        name: request.name,
      },
    );
  }
  const { same: _, ...run } = there;
  return { run, created: false };
}

/** @throws RecreditError `run.erased` */
export function assertNotErased({ id, name, erasedAt }: Pick<RegisteredRun, 'id' | 'name' | 'erasedAt'>): void {
  if (!erasedAt) return;
  const on = erasedAt.toISOString().slice(0, 10);
  throw new RecreditError('run.erased', `run ${name} was erased on ${on}: its hashes are left, and nothing else`, {
    run: id,
    erasedAt: erasedAt.toISOString(),
  });
}

/** By id, or by name among the runs the caller sees; a name that several projects use needs its project. */
export async function findRun(db: Confined, idOrName: string, project?: string): Promise<RegisteredRun> {
  const found = await db.query<RegisteredRun & { project: string }>(
    `select ${COLUMNS}, project.name as project from run join project on project.id = run.project_id
     where (run.id = $1 or run.name = $1) and ($2::text is null or project.name = $2 or project.id = $2)
     order by run.id = $1 desc, project.name limit 10`,
    [idOrName, project ?? null],
  );
  const [first, second] = found;
  if (!first) throw new RecreditError('run.unknown', `no run ${idOrName} among those you see`, { run: idOrName });
  if (second && first.id !== idOrName) {
    const projects = found.map((run) => run.project);
    const message = `several projects have a run ${idOrName} (${projects.join(', ')}): say which, or use its id`;
    throw new RecreditError('run.unknown', message, { run: idOrName, projects });
  }
  const { project: _, ...run } = first;
  return run;
}
