import type { Authenticator, RateLimiter } from '#lib/access';
import type { AnyEstimator } from '#lib/credit';
import type { EventLog } from '#lib/event-log';
import type { Queue } from '#lib/queue';
import type { Migration, Pool, SegmentStore } from '#lib/storage';
import type { Estimation } from './estimates/estimation.js';
import type { BodyChecks } from './ingest/body-checks.js';

/** What the API stands on. It keeps no state of its own, so any number of them may stand on the same. */
export interface ApiPorts {
  /** for what callers ask: always confined to their projects */
  readonly pool: Pool;
  /** for the platform's own work: sees all projects */
  readonly platform: Pool;
  readonly log: EventLog;
  readonly queue: Pick<Queue, 'enqueue' | 'depths'>;
  readonly store: SegmentStore;
  readonly authenticator: Authenticator;
  /** the catalogue, with users' own; none: ours alone */
  readonly estimators?: readonly AnyEstimator[];
  /** credit for trajectories that are sent along; none: it is computed in this thread */
  readonly estimation?: Pick<Estimation, 'estimate'>;
  /** checks batches beside the event loop; none: in this thread */
  readonly bodyChecks?: Pick<BodyChecks, 'check'>;
  /** none: nobody is limited */
  readonly limiter?: RateLimiter;
  /** of this version, to see whether the database is of it too; none: it is not looked at */
  readonly migrations?: readonly Migration[];
}

/** Nest's name for them. */
export const PORTS = Symbol('ApiPorts');
