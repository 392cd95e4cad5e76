import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a reading says of each training step lies in parts, of which a diagnosis writes those that changed: of a run that
 * grows that is the last one of most diagnostics. A reading that is there becomes one part, and is divided by the next
 * diagnosis.
 */
export class PartsOfReadings1767225632000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table diagnostic_reading_part (
        run_id     text    not null,
        diagnostic text    not null,
        part       integer not null, -- from 0, in the order of the steps
        steps      jsonb   not null, -- values by training step
        sha256     bytea   not null, -- of the JSON as it was written
        primary key (run_id, diagnostic, part),
        foreign key (run_id, diagnostic) references diagnostic_reading on delete cascade
      );
      insert into diagnostic_reading_part (run_id, diagnostic, part, steps, sha256)
        select run_id, diagnostic, 0, steps, '' from diagnostic_reading;
      alter table diagnostic_reading drop column steps;
      alter table diagnostic_reading_part enable row level security;
      create policy confined on diagnostic_reading_part to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = diagnostic_reading_part.run_id offset 0));
      grant select, insert, update, delete on diagnostic_reading_part to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table diagnostic_reading add steps jsonb not null default '[]';
      update diagnostic_reading as reading set steps = whole.steps from (
        select run_id, diagnostic, jsonb_agg(step order by part, place) as steps
        from diagnostic_reading_part, jsonb_array_elements(steps) with ordinality as one (step, place)
        group by run_id, diagnostic
      ) as whole where whole.run_id = reading.run_id and whole.diagnostic = reading.diagnostic;
      alter table diagnostic_reading alter column steps drop default;
      drop table diagnostic_reading_part;
    `);
  }
}
