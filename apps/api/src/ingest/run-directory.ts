import { findRun, type Confined, type Principal } from '#lib/access';

const MAX_REMEMBERED = 100_000;

/** Which project a run belongs to never changes, so a stream of batches need not ask again. */
export class RunDirectory {
  readonly #projectOf = new Map<string, string>();

  /** @throws RecreditError `run.unknown` where the caller does not see the run */
  async assertSeen(runId: string, { projects }: Principal, db: Confined): Promise<void> {
    const known = this.#projectOf.get(runId);
    if (known !== undefined && (projects === '*' || projects.includes(known))) return;
    const run = await findRun(db, runId);
    if (this.#projectOf.size >= MAX_REMEMBERED) this.#projectOf.clear();
    this.#projectOf.set(run.id, run.projectId);
  }
}
