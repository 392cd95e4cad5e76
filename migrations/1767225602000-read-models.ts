import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  'projection_checkpoint',
  'run_progress',
  'training_step',
  'metric_point',
  'signal_summary',
  'trajectory_group',
  'trajectory',
  'annotation',
  'rewind',
  'segment',
  'segment_step',
] as const;

/**
 * What the projector makes of the log. All of it can be dropped and made again, equal row for row.
 *
 * Every key begins with run_id. A row that stands for something of a training step carries `superseded_at`: the position
 * of the run.rewound that superseded it, null while it is current. Names are unique among the current rows only, since
 * a trainer that went back uses its names again; the position of the first event is unique in any case.
 *
 * What a producer sent as JSON is kept as json: jsonb refuses \\u0000 and lone surrogates, which JSON may hold.
 */
export class ReadModels1767225602000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table projection_checkpoint (
        run_id               text    primary key references run (id),
        position             bigint  not null,
        waiting_trajectories integer not null, -- finished and not in a segment yet
        waiting_turns        integer not null,
        waiting_bytes        bigint  not null,
        segment_count        integer not null
      );

      create table run_progress (
        run_id            text             primary key references run (id),
        state             text             not null check (state in ('running', 'completed', 'failed', 'stopped')),
        end_reason        text,
        position          bigint           not null, -- events projected
        started_at        timestamptz(3),
        ended_at          timestamptz(3),
        last_event_at     timestamptz(3),
        training_step_max integer,
        trajectory_count  integer          not null,
        finished_count    integer          not null,
        incomplete_count  integer          not null,
        superseded_count  integer          not null, -- of all the counts here, trajectories that a rewind superseded
        turn_count        bigint           not null,
        success_count     integer          not null,
        outcome_count     integer          not null,
        outcome_sum       double precision not null,
        group_count       integer          not null,
        annotation_count  integer          not null
      );

      create table training_step (
        run_id            text             not null references run (id),
        first_position    bigint           not null,
        training_step     integer          not null,
        trajectory_count  integer          not null,
        finished_count    integer          not null,
        incomplete_count  integer          not null,
        turn_count        bigint           not null,
        success_count     integer          not null,
        outcome_count     integer          not null,
        outcome_sum       double precision not null,
        group_count       integer          not null,
        recorded_position bigint,
        recorded_at       timestamptz(3),
        superseded_at     bigint,
        primary key (run_id, first_position)
      );
      create unique index training_step_current on training_step (run_id, training_step) where superseded_at is null;

      create table metric_point (
        run_id        text    not null references run (id),
        name          text    not null,
        training_step integer not null,
        position      bigint  not null,
        value         double precision, -- null: could not be measured
        recorded_at   timestamptz(3),
        superseded_at bigint,
        primary key (run_id, name, training_step, position)
      );

      create table signal_summary (
        run_id  text    not null references run (id),
        source  text    not null check (source in ('recorded', 'annotated')),
        level   text    not null check (level in ('trajectory', 'turn', 'token')),
        name    text    not null,
        rows    bigint  not null, -- of the level, that carry it and not as null
        numbers bigint  not null, -- of these, numbers and flags; of tokens not counted: 0
        minimum double precision,
        maximum double precision,
        sum     double precision not null,
        primary key (run_id, source, level, name)
      );

      create table trajectory_group (
        run_id           text             not null references run (id),
        first_position   bigint           not null,
        training_step    integer          not null,
        name             text             not null,
        trajectory_count integer          not null,
        finished_count   integer          not null,
        incomplete_count integer          not null,
        turn_count       bigint           not null,
        success_count    integer          not null,
        outcome_count    integer          not null,
        outcome_sum      double precision not null,
        outcome_min      double precision,
        outcome_max      double precision,
        superseded_at    bigint,
        primary key (run_id, first_position)
      );
      create unique index trajectory_group_current
        on trajectory_group (run_id, training_step, name) where superseded_at is null;
      create index trajectory_group_in_order on trajectory_group (run_id, training_step, first_position);

      create table trajectory (
        run_id            text    not null references run (id),
        first_position    bigint  not null,
        id                text    not null,
        training_step     integer not null,
        group_name        text    not null,
        parent            jsonb,
        state             text    not null check (state in ('live', 'finished', 'incomplete')),
        outcome_reward    double precision,
        success           boolean,
        signals           json,
        turn_count        integer not null, -- turns taken, those that came before their predecessors included
        contiguous_turns  integer not null, -- turns 0 .. contiguous_turns - 1 are all here
        turn_positions    bigint[] not null, -- of these; empty where one event recorded the whole trajectory
        early_turns       jsonb, -- turn to position, of turns that came before their predecessors
        recorded_position bigint, -- of the one event that holds all turns
        ended_position    bigint, -- of the event that said it ended
        expected_turns    integer, -- how many turns it has, known since then
        end_position      bigint, -- of the event since which it is whole
        last_position     bigint  not null,
        started_at        timestamptz(3),
        ended_at          timestamptz(3),
        bytes             bigint  not null, -- about what its turns take in memory
        problems          jsonb,
        superseded_at     bigint,
        primary key (run_id, first_position)
      ) with (fillfactor = 75); -- room for the next turns beside the row, without touching an index
      -- one current trajectory of an id, and those that rewinds superseded beside it
      create unique index trajectory_id on trajectory (run_id, id, coalesce(superseded_at, -1));
      create index trajectory_of_group on trajectory (run_id, training_step, group_name, first_position);
      create index trajectory_in_order on trajectory (run_id, training_step, first_position);
      create index trajectory_by_end on trajectory (run_id, end_position) where end_position is not null;
      create index trajectory_with_problems on trajectory (run_id, first_position) where problems is not null;

      create table annotation (
        run_id         text    not null references run (id),
        position       bigint  not null,
        item           integer not null, -- 0: the trajectory; n: the nth of the event's turns
        trajectory_id  text    not null,
        turn           integer, -- null: of the trajectory
        annotator      text    not null,
        schema         text,
        attempt        bigint  not null,
        status         text    not null check (status in ('ok', 'failed')),
        failure_reason text,
        signals        json    not null,
        rationale      text,
        recorded_at    timestamptz(3),
        superseded_at  bigint,
        primary key (run_id, position, item)
      );
      create index annotation_of_trajectory on annotation (run_id, trajectory_id, position);

      create table rewind (
        run_id           text    not null references run (id),
        position         bigint  not null,
        to_training_step integer not null,
        recorded_at      timestamptz(3),
        primary key (run_id, position)
      );

      create table segment (
        run_id           text    not null references run (id),
        ordinal          integer not null,
        first_step       integer not null,
        last_step        integer not null,
        end_position     bigint  not null, -- exclusive: of the cut
        trajectory_count integer not null,
        turn_count       integer not null,
        numeric_key      text    not null,
        numeric_sha256   bytea   not null check (length(numeric_sha256) = 32),
        text_key         text    not null,
        text_sha256      bytea   not null check (length(text_sha256) = 32),
        bytes            bigint  not null, -- of both files
        primary key (run_id, ordinal)
      );
      create table segment_step (
        run_id        text    not null,
        training_step integer not null,
        ordinal       integer not null,
        first_row     integer not null,
        row_count     integer not null,
        end_positions bigint[]  not null, -- [row_count] ascending
        turn_counts   integer[] not null, -- [row_count]
        primary key (run_id, training_step, ordinal),
        foreign key (run_id, ordinal) references segment
      );
    `);
    for (const table of TABLES) {
      // who works for all projects need not look up the run of every row
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
