import type { Diagnosis } from '#lib/diagnostics';
import { APPEND_CHANNEL, appendOwn } from '#lib/event-log';
import { newId } from '#lib/kernel';
import { inTransaction, type Pool, type PoolClient } from '#lib/storage';
import { noteDeliveries } from '#lib/webhooks';
import type { RunDiagnosis } from './kept-diagnosis.js';

/** An alert opened, or closed. */
export interface AlertEdge {
  readonly edge: 'opened' | 'closed';
  readonly alert: string;
  readonly run: string;
  readonly diagnostic: string;
  readonly rule: string;
  readonly level: 'info' | 'warn' | 'critical';
  readonly says: string;
  /** the values that the rule's conditions saw when it opened */
  readonly saw: Readonly<Record<string, number>>;
  readonly trainingStep: number;
  /** what was known: events before this position */
  readonly asOf: number;
}

interface OpenAlert {
  readonly id: string;
  readonly diagnostic: string;
  readonly rule: string;
  readonly level: AlertEdge['level'];
  readonly says: string;
  readonly saw: Readonly<Record<string, number>>;
  readonly openedStep: number;
}

/**
 * Brings a run's alerts in line with its readings: what opened and what closed becomes an event of the run, a row, and a
 * delivery to each webhook of its project, all of it or nothing.
 * Called again with the same readings it changes nothing. An alert whose steps were superseded by a rewind closes.
 *
 * @returns the edges, in the order of their events
 */
export async function raiseAlerts(
  pool: Pool,
  runId: string,
  { asOf, settingsVersion, readings }: Omit<RunDiagnosis, 'pendingSteps'>,
): Promise<AlertEdge[]> {
  const edges = await inTransaction(pool, async (client) => {
    // one diagnosis of a run at a time brings its alerts in line
    await client.query(`select pg_advisory_xact_lock(hashtextextended('alerts of ' || $1, 0))`, [runId]);
    const { rows } = await client.query(
      `select from alert where run_id = $1 and greatest(opened_as_of, closed_as_of) > $2
       union all select from diagnostic_settings where run_id = $1 and version > $3 limit 1`,
      [runId, asOf, settingsVersion],
    );
    if (rows.length > 0) return []; // a later diagnosis has spoken, or will
    const found = [
      ...(await closings(client, runId, asOf, readings)),
      ...(await openings(client, runId, asOf, readings)),
    ];
    if (found.length > 0) {
      await appendEdges(client, runId, found);
      await noteDeliveries(client, runId, found);
    }
    return found;
  });
  if (edges.length > 0) await pool.query('select pg_notify($1, $2)', [APPEND_CHANNEL, runId]);
  return edges;
}

const nameOf = (diagnostic: string, rule: string, openedStep: number) => `${diagnostic}/${rule}/${openedStep}`;

async function openings(
  client: PoolClient,
  runId: string,
  asOf: number,
  readings: readonly Diagnosis[],
): Promise<AlertEdge[]> {
  const { rows } = await client.query(
    `select diagnostic, rule, opened_step as "openedStep", bool_or(closed_as_of is null) as "isOpen" from alert
     where run_id = $1 group by diagnostic, rule, opened_step`,
    [runId],
  );
  const known = new Map(rows.map(({ isOpen, ...alert }) => [nameOf(alert.diagnostic, alert.rule, alert.openedStep), isOpen])); // prettier-ignore
  const edges: AlertEdge[] = [];
  for (const { id: diagnostic, alerts } of readings) {
    for (const { rule, level, says, saw, openedAt, closedAt } of alerts) {
      // what opened and closed between two diagnoses is kept with both its edges; what other settings, or steps that a
      // rewind superseded, had closed opens again
      const isOpen = known.get(nameOf(diagnostic, rule, openedAt));
      if (isOpen || (isOpen === false && closedAt !== null)) continue;
      const alert = newId();
      const common = { alert, run: runId, diagnostic, rule, level, says, saw, asOf };
      await client.query(
        `insert into alert (id, run_id, diagnostic, rule, level, says, saw, opened_step, opened_as_of,
           closed_step, closed_as_of, closed_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint, $10::int, case when $10::int is not null then $9::bigint end,
           case when $10::int is not null then now() end)`,
        [alert, runId, diagnostic, rule, level, says, JSON.stringify(saw), openedAt, asOf, closedAt],
      );
      edges.push({ edge: 'opened', ...common, trainingStep: openedAt });
      if (closedAt !== null) edges.push({ edge: 'closed', ...common, trainingStep: closedAt });
    }
  }
  return edges;
}

async function closings(
  client: PoolClient,
  runId: string,
  asOf: number,
  readings: readonly Diagnosis[],
): Promise<AlertEdge[]> {
  const { rows } = await client.query(
    `select id, diagnostic, rule, level, says, saw, opened_step as "openedStep" from alert
     where run_id = $1 and closed_as_of is null order by opened_as_of, id`,
    [runId],
  );
  const edges: AlertEdge[] = [];
  for (const { id, diagnostic, rule, level, says, saw, openedStep } of rows as OpenAlert[]) {
    const reading = readings.find((candidate) => candidate.id === diagnostic);
    const now = reading?.alerts.find((alert) => alert.rule === rule && alert.openedAt === openedStep);
    if (now && now.closedAt === null) continue;
    const trainingStep = now?.closedAt ?? reading?.steps.at(-1)?.trainingStep ?? openedStep;
    await client.query(`update alert set closed_step = $2, closed_as_of = $3, closed_at = now() where id = $1`, [
      id,
      trainingStep,
      asOf,
    ]);
    edges.push({ edge: 'closed', alert: id, run: runId, diagnostic, rule, level, says, saw, trainingStep, asOf });
  }
  return edges;
}

async function appendEdges(client: PoolClient, runId: string, edges: readonly AlertEdge[]): Promise<void> {
  const at = new Date().toISOString();
  await appendOwn(
    client,
    runId,
    edges.map(({ edge, alert, diagnostic, rule, level, says, saw, trainingStep, asOf }) => {
      const type = `alert.${edge}` as const;
      return { type, at, alert, diagnostic, rule, level, says, saw, trainingStep, asOf };
    }),
  );
}
