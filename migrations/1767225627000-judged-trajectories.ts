import type { MigrationInterface, QueryRunner } from 'typeorm';

const FINISHED_AND_JUDGED = `trajectory.state = 'finished' and trajectory.success is not null`;

/** A success rate is of the trajectories that were said to have succeeded or failed; of the others nobody knows. */
export class JudgedTrajectories1767225627000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table run_progress add column judged_count integer not null default 0;
      update run_progress set judged_count =
        (select count(*) from trajectory where trajectory.run_id = run_progress.run_id and ${FINISHED_AND_JUDGED});

      alter table training_step add column judged_count integer not null default 0;
      update training_step set judged_count = judged.count from
        (select run_id, training_step, superseded_at, count(*) from trajectory where ${FINISHED_AND_JUDGED}
         group by run_id, training_step, superseded_at) as judged
        where judged.run_id = training_step.run_id and judged.training_step = training_step.training_step
          and judged.superseded_at is not distinct from training_step.superseded_at;

      alter table trajectory_group add column judged_count integer not null default 0;
      update trajectory_group set judged_count = judged.count from
        (select run_id, training_step, group_name, superseded_at, count(*) from trajectory where ${FINISHED_AND_JUDGED}
         group by run_id, training_step, group_name, superseded_at) as judged
        where judged.run_id = trajectory_group.run_id and judged.training_step = trajectory_group.training_step
          and judged.group_name = trajectory_group.name
          and judged.superseded_at is not distinct from trajectory_group.superseded_at;

      alter table run_progress alter column judged_count drop default;
      alter table training_step alter column judged_count drop default;
      alter table trajectory_group alter column judged_count drop default;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table trajectory_group drop column judged_count;
      alter table training_step drop column judged_count;
      alter table run_progress drop column judged_count;
    `);
  }
}
