import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createApi, type ApiPorts } from '#app/api';
import { Authenticator, confine, createKey, type Role } from '#lib/access';
import { computeShard, planAnalysis, runShard, type ShardAddress, type ShardTask } from '#lib/analysis';
import { diagnoseRun, measureSteps, measureTask, stepRevisions, type MeasureTask } from '#lib/diagnosis';
import { comparisonOf, decodeSummary } from '#lib/diagnostics';
import { EventLog, sealBatch } from '#lib/event-log';
import { Projector } from '#lib/projection';
import { openSegmentStore } from '#lib/storage';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino, type Logger } from 'pino';
import { testDatabase } from './database.js';

/** What GraphQL answered. */
export interface Answer {
  readonly status: number;
  // a test knows what it asked for
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: { readonly code: string; readonly status: number; readonly details: Record<string, unknown> };
  }[];
}

/** The API on a database of its own, with the worker's part done in this process, when asked. */
export async function testApi({ logger: given }: { logger?: Logger } = {}) {
  const db = await testDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'recredit-api-'));
  const store = await openSegmentStore(pathToFileURL(folder).href);
  const log = new EventLog(db.pool, { notify: false });
  const everything = confine(db.callerPool, '*');
  const projector = new Projector({ pool: db.pool, store });

  /** what callers' requests sent to the database */
  const statements: string[] = [];
  db.callerPool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      const sql = String(args[0]);
      if (!sql.includes('set_config') && !sql.includes('from api_key')) statements.push(sql);
      return query(...args);
    }) as typeof client.query;
  });
  /** what was logged at level error */
  const logged: { readonly err?: { readonly message: string } }[] = [];
  const logger = given ?? pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) });

  const ports: ApiPorts = {
    pool: db.callerPool,
    platform: db.pool,
    log,
    store,
    queue: { enqueue: async () => 0, depths: async () => [] },
    authenticator: new Authenticator(db.callerPool),
  };
  const app: NestFastifyApplication = await createApi(ports, logger);
  const sequences = new Map<string, number>();

  const api = {
    app,
    db,
    store,
    folder,
    statements,
    logged,
    key: async (projectId: string | null, ...roles: Role[]) =>
      (await createKey(everything, { projectId, name: roles.join(), roles })).text,

    /** Asks by POST. */
    ask: async (key: string | null, query: string, variables?: object, rest: object = {}): Promise<Answer> => {
      const response = await app
        .getHttpAdapter()
        .getInstance()
        .inject({
          method: 'POST',
          url: '/graphql',
          headers: { ...(key && { authorization: `Bearer ${key}` }) },
          payload: { query, ...(variables && { variables }), ...rest },
        });
      return { status: response.statusCode, ...response.json() };
    },

    /** Appends events as a trainer would. */
    append: async (run: string, events: readonly object[]): Promise<void> => {
      const sequence = sequences.get(run) ?? 0;
      sequences.set(run, sequence + 1);
      const ndjson = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      await log.append(
        run,
        await sealBatch({ producerId: 'p', epoch: 0, sequence, ndjson, eventCount: events.length }),
      );
    },

    project: async (run: string): Promise<void> => void (await projector.projectRun(run)),

    /** What workers do of an analysis. @param limit shards to compute */
    work: async (analysis: string, runs: readonly string[], limit = Infinity): Promise<void> => {
      for (const run of runs) await projector.projectRun(run);
      const waiting: ShardAddress[] = [];
      const finish = {
        pool: db.pool,
        conclude: async (summary: Uint8Array) => comparisonOf(decodeSummary(summary), { resamples: 20 }),
      };
      await planAnalysis({ ...finish, compute: async (shards) => void waiting.push(...shards) }, analysis);
      for (const shard of waiting.slice(0, limit)) {
        await runShard({ ...finish, compute: (task: ShardTask) => computeShard(store, task) }, shard);
      }
      for (const run of runs) await projector.projectRun(run);
    },

    /** What workers do of a run's diagnosis. @param asOf what was, measured to be read; the present if not said */
    diagnose: async (run: string, asOf?: number): Promise<void> => {
      await projector.projectRun(run);
      const ports = {
        pool: db.pool,
        measure: (task: MeasureTask) => measureTask(store, task),
        alerted: async () => {},
      };
      if (asOf === undefined) await diagnoseRun(ports, run, true);
      else await measureSteps(ports, run, asOf, await stepRevisions(db.pool, run, asOf));
    },

    /** @returns the address, once it listens */
    listen: async (): Promise<string> => {
      await app.listen(0, '127.0.0.1');
      const { port } = app.getHttpServer().address() as AddressInfo;
      return `http://127.0.0.1:${port}`;
    },

    close: async (): Promise<void> => {
      await app.close();
      await log.close();
      await db.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return api;
}

export type TestApi = Awaited<ReturnType<typeof testApi>>;

const AT = '2026-11-21T12:00:00Z';

/** `trajectories` groups of two, of `turns` turns; even ones win, and say what every turn is worth. */
export function aTrainingStep(
  trainingStep: number,
  { groups = 2, turns = 3, prefix = '' }: { groups?: number; turns?: number; prefix?: string } = {},
): object[] {
  const trajectory = (group: number, member: number) => ({
    type: 'trajectory.recorded',
    at: AT,
    id: `${prefix}t${trainingStep}-${group}-${member}`,
    group: `g${group}`,
    trainingStep,
    outcomeReward: member === 0 ? 1 : 0,
    success: member === 0,
    signals: { difficulty: group },
    turns: Array.from({ length: turns }, (_, turn) => ({
      state: `room ${turn}`,
      action: `go ${member}`,
      reward: turn === turns - 1 && member === 0 ? 1 : 0,
      signals: { exactAdvantage: member === 0 ? 0.5 : -0.5, note: 'seen' },
      tokens: { logprob: [-0.5, -0.25] },
    })),
  });
  return [
    ...Array.from({ length: groups }, (_, group) => [trajectory(group, 0), trajectory(group, 1)]).flat(),
    { type: 'trainingStep.recorded', at: AT, trainingStep, metrics: { loss: 1 / (trainingStep + 1), kl: 0.01 } },
  ];
}
