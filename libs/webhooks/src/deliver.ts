import { RecreditError } from '#lib/kernel';
import type { Pool, Queryable } from '#lib/storage';
import { send, type Parcel, type Try } from './send.js';

/** All that one webhook is told of one alert. */
export interface Telling {
  readonly webhook: string;
  readonly alert: string;
}

export interface DeliverPorts {
  /** the platform's own pool */
  readonly pool: Pool;
  /** a receiver that takes longer has not answered */
  readonly timeoutMs?: number;
}

/** A receiver takes note and answers; what it does about it is its own affair. */
const TIMEOUT_MS = 10_000;
/** Tries that the log keeps of a delivery. */
const KEPT_TRIES = 50;
const AT_ONCE = 1000;

/**
 * Sends what is pending of one alert to one webhook, in order: the closing after the opening was taken, or given up.
 * A try is written down before the next one is made. Killed in between it is sent again.
 *
 * @throws when the receiver did not take it
 */
export async function deliver(
  { pool, timeoutMs = TIMEOUT_MS }: DeliverPorts,
  telling: Telling,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const parcel = await nextParcel(pool, telling);
    if (!parcel) return;
    const tried = await send(parcel, timeoutMs, signal);
    await noteTry(pool, parcel.id, tried);
    if (tried.reason !== null) throw new Error(tried.reason);
  }
}

async function nextParcel(pool: Pool, { webhook, alert }: Telling): Promise<Parcel | null> {
  const { rows } = await pool.query(
    `select webhook_delivery.id, url, secret, body from webhook_delivery join webhook on webhook.id = webhook_id
     where webhook_id = $1 and alert_id = $2 and state = 'pending' and secret is not null order by number limit 1`,
    [webhook, alert],
  );
  return rows[0] ?? null;
}

async function noteTry(pool: Pool, id: string, tried: Try): Promise<void> {
  await pool.query(
    `update webhook_delivery set
       tries = case when jsonb_array_length(tries) < $3 then tries else tries - 0 end || $2::jsonb,
       state = case when $4 then 'delivered' else state end,
       finished_at = case when $4 then now() else finished_at end
     where id = $1`,
    [id, JSON.stringify([tried]), KEPT_TRIES, tried.reason === null],
  );
}

/** No try is left: what was tried is given up. What came after it has its own tries before it. */
export async function giveUp(pool: Pool, { webhook, alert }: Telling): Promise<void> {
  await pool.query(
    `update webhook_delivery set state = 'failed', finished_at = now()
     where webhook_id = $1 and alert_id = $2 and state = 'pending' and tries <> '[]'`,
    [webhook, alert],
  );
}

/** Of what is pending: whom to tell of what, the untried first. Queued again and again it is told once. */
export async function undelivered(db: Queryable): Promise<Telling[]> {
  const { rows } = await db.query(
    `select webhook_id as webhook, alert_id as alert from webhook_delivery where state = 'pending'
     group by webhook_id, alert_id order by bool_and(tries <> '[]'), min(number) limit $1`,
    [AT_ONCE],
  );
  return rows;
}

/** Has a delivery sent again, whatever came of it before. @returns whom to tell */
export async function deliverAgain(
  db: { query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]> },
  id: string,
): Promise<Telling> {
  const [telling] = await db.query<Telling>(
    `update webhook_delivery set state = 'pending', finished_at = null
     where id = $1 and exists (select from webhook where webhook.id = webhook_id and deleted_at is null)
     returning webhook_id as webhook, alert_id as alert`,
    [id],
  );
  if (!telling) throw new RecreditError('webhook.unknown', `no delivery ${id} of a webhook in the projects you see`);
  return telling;
}
