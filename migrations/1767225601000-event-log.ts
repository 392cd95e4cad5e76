import type { MigrationInterface, QueryRunner } from 'typeorm';

const PARTITIONS = 16;

/**
 * The append-only log: one row per batch. The row lock on run_stream orders the batches of a run: each takes its
 * positions and commits before the next one may, so there is no gap and nothing appears late. Runs have no order.
 */
export class EventLog1767225601000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table run_stream (
        run_id         text   primary key references run (id),
        next_position  bigint not null default 0 check (next_position >= 0),
        chain_hash     bytea  not null default sha256('') check (length(chain_hash) = 32)
      );
      create table event_batch (
        run_id          text           not null,
        first_position  bigint         not null check (first_position >= 0),
        event_count     integer        not null check (event_count > 0),
        producer_id     text           not null check (producer_id <> ''),
        producer_epoch  integer        not null check (producer_epoch >= 0),
        batch_sequence  integer        not null check (batch_sequence >= 0),
        codec           text           not null check (codec = 'zstd'),
        payload         bytea          not null,
        payload_size    integer        not null check (payload_size between 1 and 16777216),
        payload_sha256  bytea          not null check (length(payload_sha256) = 32),
        chain_hash      bytea          not null check (length(chain_hash) = 32),
        received_at     timestamptz(3) not null default now(),
        primary key (run_id, first_position),
        unique (run_id, producer_id, batch_sequence)
      ) partition by hash (run_id);
      comment on column event_batch.payload_size is 'bytes before compression, so that a reader can bound its memory';

      create function refuse_change() returns trigger language plpgsql as $$
      begin
        raise exception '% is append-only: % refused', tg_table_name, lower(tg_op)
          using errcode = 'insufficient_privilege';
      end $$;
      create trigger append_only before update or delete on event_batch
        for each row execute function refuse_change();
      create trigger no_truncate before truncate on event_batch execute function refuse_change();
      create trigger no_delete before delete on run_stream for each row execute function refuse_change();
      create trigger no_truncate before truncate on run_stream execute function refuse_change();

      grant select, insert on event_batch to recredit_app;
      grant select, insert, update on run_stream to recredit_app;

      -- run is confined itself: a batch is seen by whoever sees its run. The offset keeps the planner from reading all
      -- runs into a hash table for every statement: one lookup per batch is less.
      alter table run_stream enable row level security;
      create policy confined on run_stream to recredit_app
        using (exists (select from run where run.id = run_stream.run_id offset 0));
      alter table event_batch enable row level security;
      create policy confined on event_batch to recredit_app
        using (exists (select from run where run.id = event_batch.run_id offset 0));
    `);
    // TRUNCATE triggers are not inherited, and what zstd has compressed Postgres need not try again.
    for (let i = 0; i < PARTITIONS; i++) {
      await db.query(`
        create table event_batch_${i} partition of event_batch for values with (modulus ${PARTITIONS}, remainder ${i});
        alter table event_batch_${i} alter column payload set storage external;
        create trigger no_truncate before truncate on event_batch_${i} execute function refuse_change();
      `);
    }
  }

  async down(): Promise<void> {
    throw new Error('the event log is the truth: nothing takes it away');
  }
}
