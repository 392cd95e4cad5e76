import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Turns whose like was sought in their run, and what was found. */
export class NearestTurns1767225626000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table nearest_turns (
        id            text           primary key,
        run_id        text           not null references run (id),
        trajectory_id text           not null,
        turn          integer        not null,
        training_step integer        not null, -- of the trajectory, as its group
        group_name    text           not null,
        k             integer        not null,
        within        text           not null check (within in ('run', 'task', 'group')),
        as_of         bigint         not null, -- events before it are looked at
        state         text           not null check (state in ('running', 'completed', 'failed')),
        failure       text,
        result        jsonb,
        created_at    timestamptz(3) not null default now(),
        finished_at   timestamptz(3)
      );
      create index nearest_turns_of_run on nearest_turns (run_id, created_at, id);
      alter table nearest_turns enable row level security;
      create policy confined on nearest_turns to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = nearest_turns.run_id offset 0));
      grant select, insert, update, delete on nearest_turns to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table nearest_turns');
  }
}
