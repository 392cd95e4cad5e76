import { newId } from '#lib/kernel';
import type { Queryable } from '#lib/storage';

/** An edge of an alert, as whoever watches over it is told. */
export interface AlertNotice {
  readonly edge: 'opened' | 'closed';
  readonly alert: string;
  readonly diagnostic: string;
  readonly rule: string;
  readonly level: string;
  readonly says: string;
  readonly saw: Readonly<Record<string, number>>;
  readonly trainingStep: number;
  readonly asOf: number;
}

/**
 * Makes a delivery of each edge to each webhook of the run's project, in the transaction that makes the edges: they are
 * committed together or not at all.
 *
 * @param notices in order; of one alert the opening stands before the closing
 */
export async function noteDeliveries(tx: Queryable, runId: string, notices: readonly AlertNotice[]): Promise<void> {
  const { rows } = await tx.query(
    `select webhook.id as webhook, webhook.project_id as "projectId", project.name as "projectName", run.name as "runName"
     from run join project on project.id = run.project_id join webhook on webhook.project_id = project.id
     where run.id = $1 and webhook.deleted_at is null order by webhook.id for share of webhook`,
    [runId],
  );
  const timestamp = new Date().toISOString();
  for (const { edge, alert, diagnostic, rule, level, says, saw, trainingStep, asOf } of notices) {
    for (const { webhook, projectId, projectName, runName } of rows) {
      const data = {
        alert,
        project: { id: projectId, name: projectName },
        run: { id: runId, name: runName },
        diagnostic,
        rule,
        level,
        says,
        saw,
        trainingStep,
        asOf,
      };
      await tx.query(
        `insert into webhook_delivery (id, webhook_id, project_id, run_id, alert_id, edge, body)
         values ($1, $2, $3, $4, $5, $6, $7)`,
        [newId(), webhook, projectId, runId, alert, edge, JSON.stringify({ type: `alert.${edge}`, timestamp, data })],
      );
    }
  }
}
