import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Analyses, their shards, and the results they share. A result is addressed by what it was made of, so it belongs to no
 * analysis: asking twice finds it, and after new data only the shards that changed are computed.
 */
export class Analysis1767225603000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table analysis (
        id          text           primary key,
        project_id  text           not null references project,
        state       text           not null check (state in ('planning', 'running', 'completed', 'failed', 'cancelled')),
        estimators  jsonb          not null, -- [{label, id, version, params}]
        first_step  integer,
        last_step   integer,
        sample_rate double precision,        -- fixed by the plan: the share of trajectories that rank statistics read
        comparison  jsonb,
        failure     text,
        created_at  timestamptz(3) not null default now(),
        planned_at  timestamptz(3),
        finished_at timestamptz(3)
      );
      create index analysis_newest_first on analysis (created_at desc, id desc);

      create table analysis_run (
        analysis_id text   not null references analysis on delete cascade,
        run_id      text   not null references run,
        as_of       bigint,                  -- what was asked for; null: the position of the request itself
        requested_at_position bigint,        -- where analysis.requested stands; null: not written yet
        primary key (analysis_id, run_id)
      );
      create index analysis_of_run on analysis_run (run_id, analysis_id);

      create table analysis_shard (
        analysis_id      text           not null references analysis on delete cascade,
        run_id           text           not null,
        training_step    integer        not null,
        state            text           not null check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
        cached           boolean        not null default false,
        inputs           jsonb          not null, -- {segments, annotations, results: [key of each estimator], summary: key}
        trajectory_count integer        not null,
        tries            integer        not null default 0,
        reason           text,
        device           text,
        seconds          double precision,
        bytes            bigint,
        started_at       timestamptz(3),
        finished_at      timestamptz(3),
        primary key (analysis_id, run_id, training_step)
      );
      create index analysis_shard_by_state on analysis_shard (analysis_id, state, run_id, training_step);

      -- At most one result under a key; shared by all analyses.
      create table credit_result (
        key           text             primary key,
        run_id        text             not null references run,
        training_step integer          not null,
        estimator     text             not null,
        version       integer          not null,
        outcome       text             not null check (outcome in ('credit', 'missing')),
        missing       jsonb,           -- [{path, rows, of}]
        warnings      jsonb            not null default '[]',
        file_sha256   bytea,
        bytes         bigint           not null default 0,
        device        text             not null,
        seconds       double precision not null,
        created_at    timestamptz(3)   not null default now(),
        check ((outcome = 'credit') = (file_sha256 is not null))
      );
      create index credit_result_of_run on credit_result (run_id, training_step);

      create table shard_summary (
        key        text           primary key,
        run_id     text           not null references run,
        payload    bytea          not null,
        created_at timestamptz(3) not null default now()
      );
      create index shard_summary_of_run on shard_summary (run_id);

      alter table analysis enable row level security;
      alter table analysis_run enable row level security;
      alter table analysis_shard enable row level security;
      alter table credit_result enable row level security;
      alter table shard_summary enable row level security;
      create policy confined on analysis using (recredit_sees(project_id));
      create policy confined on analysis_run using (exists (select from run where run.id = run_id offset 0));
      create policy confined on analysis_shard using (exists (select from run where run.id = run_id offset 0));
      create policy confined on credit_result using (exists (select from run where run.id = run_id offset 0));
      create policy confined on shard_summary using (exists (select from run where run.id = run_id offset 0));

      grant select, insert, update on analysis, analysis_run, analysis_shard to recredit_app;
      grant select, insert on credit_result, shard_summary to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`drop table shard_summary, credit_result, analysis_shard, analysis_run, analysis`);
  }
}
