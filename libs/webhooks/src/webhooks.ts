import { randomBytes } from 'node:crypto';
import { findProject, type Confined } from '#lib/access';
import { newId, RecreditError } from '#lib/kernel';

/** An address that is told of the alerts of a project's runs. Its secret is nowhere to be read. */
export interface Webhook {
  readonly id: string;
  readonly projectId: string;
  readonly url: string;
  readonly createdAt: Date;
  readonly deletedAt: Date | null;
}

export const MAX_WEBHOOKS = 20;
const MAX_URL = 2000;
const SECRET_BYTES = 32;
const COLUMNS = 'id, project_id as "projectId", url, created_at as "createdAt", deleted_at as "deletedAt"';

/**
 * Tells an address of what happens from now on to alerts of a project.
 *
 * @param project name or id
 * @returns the webhook, and the secret that its deliveries are signed with, which cannot be had again
 */
export async function createWebhook(
  db: Confined,
  { project, url }: { readonly project: string; readonly url: string },
): Promise<{ webhook: Webhook; secret: string }> {
  const address = checkedUrl(url);
  const { id: projectId } = await findProject(db, project);
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  return db.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1, 0))`, [projectId]);
    const there = await tx.query('select from webhook where project_id = $1 and deleted_at is null', [projectId]);
    if (there.length >= MAX_WEBHOOKS)
      throw new RecreditError('request.invalid', `a project has up to ${MAX_WEBHOOKS} webhooks, and this one has them`);
    const [webhook] = await tx.query<Webhook>(
      `insert into webhook (id, project_id, url, secret) values ($1, $2, $3, $4) returning ${COLUMNS}`,
      [newId(), projectId, address, secret],
    );
    return { webhook, secret };
  });
}

/** What a request can be sent to. Messages leave the address out: it may hold somebody's token. */
function checkedUrl(text: string): string {
  const refuse = (why: string) => new RecreditError('request.invalid', `url: ${why}`);
  if (text.length > MAX_URL) throw refuse(`up to ${MAX_URL} characters were wanted, found ${text.length}`);
  const url = URL.parse(text);
  if (!url) throw refuse('a whole address such as https://example.com/alerts was wanted');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse(`http or https was wanted, found ${url.protocol.slice(0, -1)}`);
  if (url.username || url.password) throw refuse('a name or password in it is not sent; leave it out');
  return url.href;
}

/** Ends a webhook. Its secret is gone, what was not delivered is given up, and its log stays. */
export function deleteWebhook(db: Confined, id: string): Promise<Webhook> {
  return db.transaction(async (tx) => {
    const [webhook] = await tx.query<Webhook>(
      `update webhook set deleted_at = coalesce(deleted_at, now()), secret = null where id = $1 returning ${COLUMNS}`,
      [id],
    );
    if (!webhook) throw new RecreditError('webhook.unknown', `no webhook ${id} in the projects you see`);
    await tx.query(
      `update webhook_delivery set state = 'failed', finished_at = now() where webhook_id = $1 and state = 'pending'`,
      [id],
    );
    return webhook;
  });
}

/** Newest first, deleted ones too. `after`: the last one of the page before. */
export function listWebhooks(
  db: Confined,
  limit: number,
  after: Pick<Webhook, 'createdAt' | 'id'> | null = null,
): Promise<Webhook[]> {
  return db.query<Webhook>(
    `select ${COLUMNS} from webhook
     where $2::timestamptz is null or (created_at, id) < ($2, $3)
     order by created_at desc, id desc limit $1`,
    [limit, after?.createdAt ?? null, after?.id ?? null],
  );
}
