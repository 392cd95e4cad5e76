import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditResult } from '#lib/diagnosis';
import { RecreditError } from '#lib/kernel';
import type { ApiClient } from './api-client.js';
import { findRun } from './runs.js';

export interface AuditWish {
  readonly estimator: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signal?: string;
  readonly asOf?: number;
}

/** An audit as the API shows it. */
export interface AuditView {
  readonly id: string;
  readonly run: string;
  readonly asOf: number;
  readonly estimator: string;
  readonly version: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: string;
  readonly state: 'RUNNING' | 'COMPLETED' | 'FAILED';
  readonly failure: string | null;
  readonly result: AuditResult | null;
}

const FIELDS = 'id run asOf estimator version params signal state failure result';
const POLL_MS = 200;

export type CompletedAudit = AuditView & { readonly result: AuditResult };

/** Starts an audit and waits for its end. @throws RecreditError `run.unknown`; `internal.error` with the reason why it failed */
export async function auditRun(api: ApiClient, run: string, wish: AuditWish): Promise<CompletedAudit> {
  const { estimator, params, signal, asOf } = wish;
  const input = {
    run: (await findRun(api, run)).id,
    estimator,
    ...(params && { params }),
    ...(signal && { signal }),
    ...(asOf !== undefined && { asOf }),
  };
  const { startAudit } = await api.query<{ startAudit: AuditView }>(
    `mutation ($input: StartAuditInput!) { startAudit(input: $input) { ${FIELDS} } }`,
    { input },
  );
  for (let audit = startAudit; ; await sleep(POLL_MS)) {
    const answer = await api.query<{ audit: AuditView }>(`query ($id: ID!) { audit(id: $id) { ${FIELDS} } }`, {
      id: audit.id,
    });
    audit = answer.audit;
    if (audit.state === 'COMPLETED') return { ...audit, result: audit.result! };
    if (audit.state === 'FAILED') throw new RecreditError('internal.error', `the audit failed: ${audit.failure}`);
  }
}
