import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Audits of a trainer's own advantages: what was claimed, and what was found. */
export class Audit1767225614000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table audit (
        id          text           primary key,
        run_id      text           not null references run (id),
        as_of       bigint         not null, -- events before it are looked at
        estimator   text           not null,
        version     integer        not null,
        params      jsonb          not null,
        signal      text           not null,
        state       text           not null check (state in ('running', 'completed', 'failed')),
        failure     text,
        result      jsonb,
        created_at  timestamptz(3) not null default now(),
        finished_at timestamptz(3)
      );
      create index audit_of_run on audit (run_id, created_at, id);
      alter table audit enable row level security;
      create policy confined on audit to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = audit.run_id offset 0));
      grant select, insert, update, delete on audit to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table audit');
  }
}
