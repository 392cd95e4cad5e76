import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the diagnostics of a run are asked with: each change is a version of its own, and the highest is in force. Params
 * make other figures, so figures say which they were measured with: '' is the defaults.
 */
export class DiagnosticSettings1767225623000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table diagnostic_settings (
        run_id   text           not null references run (id),
        version  integer        not null, -- from 1, without gaps; a run without any has version 0, all defaults
        settings jsonb          not null, -- [diagnostic][setting] what differs from the defaults
        set_at   timestamptz(3) not null default now(),
        set_by   text           references api_key (id), -- null: the platform itself
        primary key (run_id, version)
      );
      alter table diagnosis add settings_version integer not null default 0;

      alter table diagnostic_figures add params text not null default '';
      alter table diagnostic_figures drop constraint diagnostic_figures_pkey;
      alter table diagnostic_figures
        add primary key (run_id, training_step, revision, diagnostic, version, params);

      -- an alert that other settings closed may open again, of the same step and as of the same position
      drop index alert_opening;
      create index alert_of_rule on alert (run_id, diagnostic, rule, opened_step);

      alter table diagnostic_settings enable row level security;
      create policy confined on diagnostic_settings to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = diagnostic_settings.run_id offset 0));
      grant select, insert, delete on diagnostic_settings to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop index alert_of_rule;
      create unique index alert_opening on alert (run_id, diagnostic, rule, opened_step, opened_as_of);
      delete from diagnostic_figures where params <> '';
      alter table diagnostic_figures drop constraint diagnostic_figures_pkey;
      alter table diagnostic_figures add primary key (run_id, training_step, revision, diagnostic, version);
      alter table diagnostic_figures drop column params;
      alter table diagnosis drop column settings_version;
      drop table diagnostic_settings;
    `);
  }
}
