import { followAppends, type Following } from '#lib/event-log';
import type { Pool, SegmentStore } from '#lib/storage';
import { dropReadModels } from './drop-read-models.js';
import { laggingRuns } from './lagging-runs.js';
import { projectChunk, type ChunkOptions } from './project-chunk.js';
import type { SegmentSize } from './project-events.js';
import { ProjectedNotices } from './projected-notices.js';
import { RecentTurns } from './recent-turns.js';
import { Rests } from './rests.js';
import { withRun } from './run-lock.js';
import { RunQueue } from './run-queue.js';

/** Where large segments make scans cheap and a cut still fits into memory; 20,000 turns of text alone are far below. */
export const SEGMENT_SIZE: SegmentSize = { turns: 20_000, bytes: 128 * 1024 * 1024 };
const MAX_LAGGING = 1_000;

export interface ProjectorParts {
  /** of the platform: it sees all projects */
  readonly pool: Pool;
  readonly store: Pick<SegmentStore, 'put'>;
  /** decides where segments are cut: the same for all workers of a platform, for ever */
  readonly segmentSize?: SegmentSize;
  readonly chunk?: Partial<Pick<ChunkOptions, 'maxBatches' | 'maxBytes'>>;
  /** how often to look for runs of which no notice came */
  readonly pollMs?: number;
  /** runs worked on at once */
  readonly concurrency?: number;
  /** told of a run that could not be projected; it is tried again after a rest */
  readonly onError?: (runId: string | null, error: unknown) => void;
}

/** Keeps read models and segments level with the log. Any number of projectors share the runs. */
export class Projector {
  readonly #pool: Pool;
  readonly #chunk: ChunkOptions;
  readonly #onError: (runId: string | null, error: unknown) => void;
  readonly #queue: RunQueue;
  readonly #notices: ProjectedNotices;
  readonly #rests = new Rests();
  readonly #pollMs: number;
  #following: Following | undefined;
  #looking: Promise<void> | undefined;

  constructor(parts: ProjectorParts) {
    const { pool, store, segmentSize = SEGMENT_SIZE, chunk, pollMs = 500, concurrency = 3, onError = () => {} } = parts;
    this.#pool = pool;
    const recent = new RecentTurns();
    this.#chunk = { maxBatches: 64, maxBytes: 8 * 1024 * 1024, ...chunk, segmentSize, store, recent };
    this.#onError = onError;
    this.#pollMs = pollMs;
    this.#queue = new RunQueue((runId) => this.#step(runId), concurrency);
    this.#notices = new ProjectedNotices(pool);
  }

  /** Follows all runs, those that fell behind first. */
  start(): void {
    this.#following ??= followAppends(this.#pool, (runId) => this.#wake(runId), { pollMs: this.#pollMs });
  }

  /** Returns when the chunks under way are stored. What follows is for the next one who starts. */
  async stop(): Promise<void> {
    await this.#following?.close();
    await this.#looking;
    await this.#queue.close();
    await this.#notices.close();
  }

  /** Projects what a run has, waiting for anyone else who is at it. @returns how many events there were left for this one */
  async projectRun(runId: string): Promise<number> {
    let sum = 0;
    for (let count = -1; count !== 0; sum += count) count = (await this.#projectChunk(runId, true)) ?? 0;
    return sum;
  }

  /**
   * Drops all that was made of the log of a run and makes it again, waiting for anyone who is at it. It is one
   * transaction: until it ends everybody reads the run as it was, and what fails on the way leaves it so.
   */
  async rebuildRun(runId: string): Promise<void> {
    await withRun(this.#pool, runId, true, async (client) => {
      await dropReadModels(client, runId);
      while ((await projectChunk(client, runId, this.#chunk)) > 0);
    });
    this.#notices.announce(runId);
  }

  #wake(runId: string | null): void {
    if (runId !== null) this.#add(runId);
    else this.#looking ??= this.#lookAround().finally(() => (this.#looking = undefined));
  }

  async #lookAround(): Promise<void> {
    try {
      for (const runId of await laggingRuns(this.#pool, MAX_LAGGING)) this.#add(runId);
    } catch (error) {
      this.#onError(null, error);
    }
  }

  #add(runId: string): void {
    if (!this.#rests.isResting(runId, performance.now())) this.#queue.add(runId);
  }

  /** One chunk: a long run must not keep the others waiting. */
  async #step(runId: string): Promise<void> {
    try {
      const count = await this.#projectChunk(runId, false);
      this.#rests.end(runId);
      if (count) this.#queue.add(runId);
    } catch (error) {
      this.#rests.begin(runId, performance.now());
      this.#onError(runId, error);
    }
  }

  async #projectChunk(runId: string, wait: boolean): Promise<number | null> {
    const count = await withRun(this.#pool, runId, wait, (client) => projectChunk(client, runId, this.#chunk));
    if (count) this.#notices.announce(runId);
    return count;
  }
}
