import type { Authenticator } from '#lib/access';
import type { EventLog } from '#lib/event-log';
import type { Queue } from '#lib/queue';
import type { Pool, SegmentStore } from '#lib/storage';

/** What the API stands on. It keeps no state of its own, so any number of them may stand on the same. */
export interface ApiPorts {
  /** for what callers ask: always confined to their projects */
  readonly pool: Pool;
  /** for the platform's own work: sees all projects */
  readonly platform: Pool;
  readonly log: EventLog;
  readonly queue: Pick<Queue, 'enqueue'>;
  readonly store: SegmentStore;
  readonly authenticator: Authenticator;
}

/** Nest's name for them. */
export const PORTS = Symbol('ApiPorts');
