import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['diagnostic_figures', 'diagnosis', 'diagnostic_reading', 'alert'] as const;

/**
 * What diagnostics measured of training steps, what they say of runs, and the alerts that followed.
 *
 * `revision` is the position of the last event that a step's figures can depend on, so figures are of one revision for
 * ever and an earlier position of the run finds those it had then.
 */
export class Diagnosis1767225613000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table diagnostic_figures (
        run_id        text    not null references run (id),
        training_step integer not null,
        revision      bigint  not null,
        diagnostic    text    not null,
        version       integer not null,
        outcome       jsonb   not null,
        primary key (run_id, training_step, revision, diagnostic, version)
      );

      create table diagnosis (
        run_id        text           primary key references run (id),
        as_of         bigint         not null, -- events before it are spoken of
        pending_steps integer        not null, -- training steps that are not measured yet
        seconds       double precision not null, -- how long it took
        made_at       timestamptz(3) not null default now()
      );

      create table diagnostic_reading (
        run_id     text    not null references diagnosis (run_id) on delete cascade,
        diagnostic text    not null,
        place      integer not null, -- in the report
        reading    jsonb   not null, -- without its steps
        steps      jsonb   not null, -- values by training step
        primary key (run_id, diagnostic)
      );

      create table alert (
        id                 text           primary key,
        run_id             text           not null references run (id),
        diagnostic         text           not null,
        rule               text           not null,
        level              text           not null check (level in ('info', 'warn', 'critical')),
        says               text           not null,
        saw                jsonb          not null,
        opened_step        integer        not null,
        opened_as_of       bigint         not null,
        opened_at          timestamptz(3) not null default now(),
        closed_step        integer,
        closed_as_of       bigint,
        closed_at          timestamptz(3)
      );
      create unique index alert_opening on alert (run_id, diagnostic, rule, opened_step, opened_as_of);
      create index alert_open on alert (run_id) where closed_as_of is null;
    `);
    for (const table of TABLES) {
      await db.query(`
        alter table ${table} enable row level security;
        create policy confined on ${table} to recredit_app
          using (current_setting('recredit.projects', true) = '*'
            or exists (select from run where run.id = ${table}.run_id offset 0));
        grant select, insert, update, delete on ${table} to recredit_app;
      `);
    }
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`drop table ${TABLES.toReversed().join(', ')}`);
  }
}
