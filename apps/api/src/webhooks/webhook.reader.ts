import type { Confined } from '#lib/access';
import type { Key, Order } from '../graphql/cursor.js';
import type { Webhook, WebhookDelivery } from './webhook.object.js';

/** With its place in the log. */
export interface LoggedDelivery extends WebhookDelivery {
  readonly number: number;
}

const COLUMNS = `number::float8 as number, id, run_id as run, alert_id as alert, edge, body, state, tries,
  created_at as "createdAt", finished_at as "finishedAt"`;

export const NEWEST_WEBHOOK: Order<Webhook> = {
  parts: ['instant', 'text'],
  keyOf: ({ createdAt, id }) => [createdAt.toISOString(), id],
};

export async function webhookById(db: Confined, id: string): Promise<Webhook | null> {
  const [webhook] = await db.query<Webhook>(
    `select id, project_id as "projectId", url, created_at as "createdAt", deleted_at as "deletedAt"
     from webhook where id = $1`,
    [id],
  );
  return webhook ?? null;
}

export const NEWEST_DELIVERY: Order<LoggedDelivery> = { parts: ['position'], keyOf: ({ number }) => [number] };

/** Of each webhook, newest first. */
export async function deliveriesOfWebhooks(
  db: Confined,
  webhookIds: readonly string[],
  limit: number,
  after: Key | null,
): Promise<(LoggedDelivery & { of: string })[]> {
  const rows = await db.query<LoggedDelivery & { of: string }>(
    `select wanted.id as "of", found.* from unnest($1::text[]) as wanted(id)
     cross join lateral (
       select ${COLUMNS} from webhook_delivery as delivery
       where webhook_id = wanted.id and ($3::bigint is null or delivery.number < $3)
       order by delivery.number desc limit $2
     ) as found`,
    [webhookIds, limit, after?.[0] ?? null],
  );
  return rows.map(withInstants);
}

export async function deliveryById(db: Confined, id: string): Promise<WebhookDelivery | null> {
  const [delivery] = await db.query<LoggedDelivery>(`select ${COLUMNS} from webhook_delivery where id = $1`, [id]);
  return delivery ? withInstants(delivery) : null;
}

/** JSON has no instants. */
function withInstants<Row extends LoggedDelivery>(row: Row): Row {
  return { ...row, tries: row.tries.map((one) => ({ ...one, at: new Date(one.at) })) };
}
