import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EventLog, sealBatch } from '#lib/event-log';
import { Projector } from '#lib/projection';
import { openSegmentStore, type SegmentStore } from '#lib/storage';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { testDatabase, type TestDatabase } from './database.js';
import { aProject, aRun } from './rows.js';

/** A run that a spec records itself: a new one for each `it`, in a database and a segment store of the spec file. */
export interface RecordedRun {
  readonly db: TestDatabase;
  readonly store: SegmentStore;
  readonly project: string;
  readonly run: string;
  /** Goes on with another run, as each `it` begins with one: for properties, which are tried several times. */
  readonly newRun: () => Promise<void>;
  /** Appends events as one batch of one producer. */
  readonly append: (events: readonly object[]) => Promise<void>;
  /** Brings the read models level with the log. */
  readonly projectAll: () => Promise<void>;
  /** Appends events, and projects them. */
  readonly send: (events: readonly object[]) => Promise<void>;
}

/** Called once in a spec file; what it gives is there from the first `beforeEach` on. */
export function recordedRun(): RecordedRun {
  let db: TestDatabase;
  let store: SegmentStore;
  let log: EventLog;
  let folder: string;
  let [project, run, sequence] = ['', '', 0];

  beforeAll(async () => {
    db = await testDatabase();
    folder = await mkdtemp(join(tmpdir(), 'recredit-spec-'));
    store = await openSegmentStore(pathToFileURL(folder).href);
    log = new EventLog(db.pool, { notify: false });
  });

  const newRun = async () => {
    project = await aProject(db.ownerPool);
    run = await aRun(db.ownerPool, { project });
    sequence = 0;
  };
  beforeEach(newRun);

  afterAll(async () => {
    await log?.close();
    await db?.drop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const append = async (events: readonly object[]) => {
    const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    const batch = { producerId: 'p', epoch: 0, sequence: sequence++, ndjson, eventCount: events.length };
    await log.append(run, await sealBatch(batch));
  };
  const projectAll = async () => void (await new Projector({ pool: db.pool, store }).projectRun(run));
  return {
    get db() {
      return db;
    },
    get store() {
      return store;
    },
    get project() {
      return project;
    },
    get run() {
      return run;
    },
    newRun,
    append,
    projectAll,
    send: async (events) => {
      await append(events);
      await projectAll();
    },
  };
}
