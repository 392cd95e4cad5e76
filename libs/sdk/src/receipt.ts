/** Why an event was not recorded. Training goes on in any case. */
export type RefusalReason =
  /** the event holds something that cannot be sent: Infinity, a cycle, a field of the wrong type */
  | 'invalid'
  /** the spool or its disk is full of events that no server has acknowledged yet */
  | 'back-pressure'
  /** the trajectory or the run has ended */
  | 'ended'
  /** the spool cannot be written for another reason, which `detail` names */
  | 'spool-failed';

export interface Refusal {
  readonly accepted: false;
  readonly reason: RefusalReason;
  readonly detail: string;
}

/** What became of one call. */
export type Receipt = { readonly accepted: true } | Refusal;

export const ACCEPTED: Receipt = { accepted: true };

export function refusal(reason: RefusalReason, detail: string): Refusal {
  return { accepted: false, reason, detail };
}
