import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Figures of a training step lie together and packed, since nobody asks for parts of them: as a row of jsonb for each
 * diagnostic they took as long to keep as a quarter of their measuring. What was kept is dropped: it is measured again
 * where somebody asks for it, and what was said of runs stays.
 */
export class PackedFigures1767225631000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table diagnostic_figures;
      create table diagnostic_figures (
        run_id         text    not null references run (id),
        training_step  integer not null,
        revision       bigint  not null,
        members        text[]  not null, -- diagnostic and version, and a hash of its params where they are not the defaults
        members_sha256 bytea   not null,
        outcomes       bytea   not null, -- [members] as JSON, compressed with zstd
        primary key (run_id, training_step, revision, members_sha256)
      );
      alter table diagnostic_figures alter column outcomes set storage external; -- it is compressed
      alter table diagnostic_figures enable row level security;
      create policy confined on diagnostic_figures to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = diagnostic_figures.run_id offset 0));
      grant select, insert, update, delete on diagnostic_figures to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table diagnostic_figures;
      create table diagnostic_figures (
        run_id        text    not null references run (id),
        training_step integer not null,
        revision      bigint  not null,
        diagnostic    text    not null,
        version       integer not null,
        outcome       jsonb   not null,
        params        text    not null default '',
        primary key (run_id, training_step, revision, diagnostic, version, params)
      );
      alter table diagnostic_figures enable row level security;
      create policy confined on diagnostic_figures to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = diagnostic_figures.run_id offset 0));
      grant select, insert, update, delete on diagnostic_figures to recredit_app;
    `);
  }
}
