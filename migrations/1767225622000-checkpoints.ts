import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sketches of the policy's parameters: one more read model. `rebuild` brings those of older runs in. */
export class Checkpoints1767225622000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table checkpoint_sketch (
        run_id        text    not null references run (id),
        position      bigint  not null,
        training_step integer not null,
        sketch        bytea   not null, -- little-endian float32
        tensors       json, -- [{name, size}] in the sketch's order; null: it is of one tensor
        projection    json, -- how it was made, as the trainer says
        recorded_at   timestamptz(3),
        superseded_at bigint,
        primary key (run_id, position)
      );
      create index checkpoint_sketch_of_step on checkpoint_sketch (run_id, training_step, position);

      alter table checkpoint_sketch enable row level security;
      create policy confined on checkpoint_sketch to recredit_app
        using (current_setting('recredit.projects', true) = '*'
          or exists (select from run where run.id = checkpoint_sketch.run_id offset 0));
      grant select, insert, update, delete on checkpoint_sketch to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table checkpoint_sketch');
  }
}
