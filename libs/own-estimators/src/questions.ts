import type { StateIdentity, TrajectoryRecords } from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import type { OwnModule } from './own-estimator.js';

type Params = Readonly<Record<string, unknown>>;

/** What the thread of a module is asked: what it is, its credit for a batch, its credit for records. */
export type Question = { readonly module: OwnModule } & (
  | { readonly kind: 'describe' }
  | { readonly kind: 'run'; readonly trajectories: TrajectoryBatch; readonly params: Params }
  | {
      readonly kind: 'estimate';
      readonly records: TrajectoryRecords;
      readonly params: Params;
      readonly identity: StateIdentity;
    }
);

export type Answer = { readonly value: unknown } | { readonly problem: string; readonly isSyntax: boolean };
