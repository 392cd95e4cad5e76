import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whom to tell of alerts, and what was told. A delivery is made in the transaction that makes the alert's edge, so none
 * is lost, whoever dies afterwards. The secret is kept as it is: it signs each delivery.
 */
export class Webhooks1767225621000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table webhook (
        id         text           primary key,
        project_id text           not null references project (id),
        url        text           not null,
        secret     text, -- gone once it is deleted
        created_at timestamptz(3) not null default now(),
        deleted_at timestamptz(3)
      );
      create index webhook_of_project on webhook (project_id, created_at, id);

      create table webhook_delivery (
        number       bigint         primary key generated always as identity, -- of one alert its edges in order
        id           text           not null unique,
        webhook_id   text           not null references webhook (id),
        project_id   text           not null references project (id),
        run_id       text           not null references run (id),
        alert_id     text           not null references alert (id),
        edge         text           not null check (edge in ('opened', 'closed')),
        body         text           not null, -- the bytes that are signed and sent, the same at each try
        state        text           not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
        tries        jsonb          not null default '[]', -- the newest ones
        created_at   timestamptz(3) not null default now(),
        finished_at  timestamptz(3),
        unique (webhook_id, alert_id, edge)
      );
      create index webhook_delivery_log on webhook_delivery (webhook_id, number);
      create index webhook_delivery_pending on webhook_delivery (webhook_id, alert_id, number) where state = 'pending';
      create index webhook_delivery_of_run on webhook_delivery (run_id);

      alter table webhook enable row level security;
      alter table webhook_delivery enable row level security;
      create policy confined on webhook to recredit_app using (recredit_sees(project_id));
      create policy confined on webhook_delivery to recredit_app using (recredit_sees(project_id));
      grant select, insert on webhook to recredit_app;
      grant update (secret, deleted_at) on webhook to recredit_app;
      grant select, insert, delete on webhook_delivery to recredit_app;
      grant update (state, tries, finished_at) on webhook_delivery to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table webhook_delivery, webhook');
  }
}
