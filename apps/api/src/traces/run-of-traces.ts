import { createHash } from 'node:crypto';
import { assertNotErased, ensureProject, findProject, findRun, registerRun, type Principal } from '#lib/access';
import { RecreditError } from '#lib/kernel';
import { seenBy } from '../http/caller.js';
import { beginRun } from '../ingest/begin-run.js';
import { parseRunBody } from '../ingest/run-body.js';
import type { ApiPorts } from '../ports.js';

/** The project of a key that sees them all. */
const DEFAULT_PROJECT = 'default';

/**
 * The run that traces name, by name or id; made where there is none. A trainer that starts a run of that name
 * afterwards, with an SDK, joins it.
 *
 * @param project null: not said; the only one that the caller sees, else `default`
 * @returns its id
 * @throws RecreditError `project.unknown`, `request.invalid` for what is no name, `run.erased`
 */
export async function runOfTraces(
  ports: ApiPorts,
  caller: Principal,
  project: string | null,
  run: string,
): Promise<string> {
  const { name } = parseRunBody({ project: project ?? DEFAULT_PROJECT, name: run });
  const db = seenBy(ports, caller);
  const only = caller.projects !== '*' && caller.projects.length === 1 ? caller.projects[0] : null;
  const home =
    project === null && only !== null
      ? await findProject(db, only)
      : await ensureProject(db, project ?? DEFAULT_PROJECT);
  const there = await findRun(db, name, home.id).catch((error: unknown) => {
    if (error instanceof RecreditError && error.code === 'run.unknown') return null;
    throw error;
  });
  if (there) {
    assertNotErased(there);
    return there.id;
  }
  const idempotencyKey = sdkKeyOf(home.name, name);
  const made = await registerRun(db, { project: home.id, name, config: {}, idempotencyKey });
  await beginRun(ports.platform, made.run, home.name);
  return made.run.id;
}

/** The Idempotency-Key that the SDKs send for a run. */
function sdkKeyOf(project: string, name: string): string {
  return `sdk-${createHash('sha256')
    .update(JSON.stringify([project, name]))
    .digest('hex')
    .slice(0, 32)}`;
}
