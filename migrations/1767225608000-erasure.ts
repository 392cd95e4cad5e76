import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Erasing a run: its payloads go, the hashes stay. Only functions of the role recredit_eraser can do that, and the log
 * takes no other change: a payload becomes empty, of a run that has a tombstone, before the position of that.
 */
export class Erasure1767225608000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(ERASER_ROLE);
    await db.query(`
      alter table project add column retention_days integer check (retention_days between 1 and 36500);
      comment on column project.retention_days is 'runs are erased so long after they ended and were quiet; null: never';
      grant update (retention_days) on project to recredit_app;

      -- Beside the head, so that whoever waited for the run's lock to append sees it.
      alter table run_stream add column erased_position bigint;
      comment on column run_stream.erased_position is 'of run.erased: payloads before it are gone or going; null: not erased';

      create table run_erasure (
        run_id         text           primary key references run (id),
        position       bigint         not null,           -- of run.erased
        reason         text           not null,
        requested_by   text           not null,           -- id of a key, or who else it was
        requested_at   timestamptz(3) not null default now(),
        row_count      bigint         not null,           -- of read models
        batch_count    bigint         not null default 0, -- purged so far, and their payloads as they were stored
        payload_bytes  bigint         not null default 0,
        purged_to      bigint         not null default 0,
        file_count     bigint         not null default 0, -- of segments and credit, removed
        file_bytes     bigint         not null default 0,
        database_bytes bigint         not null default 0, -- that the database gave back to the file system
        finished_at    timestamptz(3)                     -- null: still at it
      );
      create index run_erasure_unfinished on run_erasure (run_id) where finished_at is null;
      alter table run_erasure enable row level security;
      create policy confined on run_erasure to recredit_app, recredit_eraser
        using (exists (select from run where run.id = run_erasure.run_id offset 0));
      grant select on run_erasure to recredit_app;

      alter table run_progress drop constraint run_progress_state_check;
      alter table run_progress add constraint run_progress_state_check
        check (state in ('running', 'completed', 'failed', 'stopped', 'erased'));

      -- The application moves the head; that a run is erased is not for it to say.
      revoke insert, update on run_stream from recredit_app;
      grant insert (run_id), update (next_position, chain_hash) on run_stream to recredit_app;

      alter policy confined on event_batch to recredit_app, recredit_eraser;
      alter policy confined on run_stream to recredit_app, recredit_eraser;
      grant usage on schema public to recredit_eraser;
      grant select (id, project_id), update (config, idempotency_key) on run to recredit_eraser;
      grant select, update (erased_position) on run_stream to recredit_eraser;
      grant select, insert, update on run_erasure to recredit_eraser;
      grant select (run_id, first_position, payload), update (payload) on event_batch to recredit_eraser;
      grant select, delete on credit_result, shard_summary to recredit_eraser;

      create function refuse_all_but_erasing() returns trigger language plpgsql as $$
      begin
        if current_user = 'recredit_eraser' and octet_length(new.payload) = 0 and exists (
          select from run_erasure where run_id = old.run_id and old.first_position < position
        ) then
          return new;
        end if;
        raise exception '% is append-only: % refused', tg_table_name, lower(tg_op)
          using errcode = 'insufficient_privilege';
      end $$;
      drop trigger append_only on event_batch;
      create trigger append_only before delete on event_batch for each row execute function refuse_change();
      create trigger only_erasing before update on event_batch
        for each row execute function refuse_all_but_erasing();

      -- Beside the event run.erased, in the same transaction: from then on nothing is appended.
      create function begin_erasure(erased_run text, at_position bigint, why text, who text, rows_made bigint)
      returns void language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        update run_stream set erased_position = at_position
        where run_id = erased_run and erased_position is null and next_position = at_position + 1;
        if not found then
          raise exception 'the run % cannot be erased at %: that is not its last event, or it is erased', erased_run, at_position;
        end if;
        insert into run_erasure (run_id, position, reason, requested_by, row_count)
        values (erased_run, at_position, why, who, rows_made);
        update run set config = '{}', idempotency_key = null where id = erased_run;
      end $$;

      -- The next batches of an erased run, in order. Gives how many it looked at: 0 when none is left.
      create function purge_payloads(erased_run text, at_once integer)
      returns integer language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        tombstone run_erasure;
        seen integer;
        last_position bigint;
        purged bigint;
        freed bigint;
      begin
        select * into tombstone from run_erasure where run_id = erased_run for update;
        if not found then
          raise exception 'the run % is not erased', erased_run;
        end if;
        select count(*), max(first_position), count(*) filter (where size > 0), coalesce(sum(size), 0)
        into seen, last_position, purged, freed
        from (
          select first_position, octet_length(payload) as size from event_batch
          where run_id = erased_run and first_position >= tombstone.purged_to and first_position < tombstone.position
          order by first_position limit at_once
        ) as page;
        if seen = 0 then
          return 0;
        end if;
        update event_batch set payload = ''
        where run_id = erased_run and first_position between tombstone.purged_to and last_position
          and octet_length(payload) > 0;
        update run_erasure
        set batch_count = batch_count + purged, payload_bytes = payload_bytes + freed, purged_to = last_position + 1
        where run_id = erased_run;
        return seen;
      end $$;

      -- What was computed from an erased run.
      create function drop_credit(erased_run text)
      returns void language plpgsql security definer set search_path = public, pg_temp as $$
      begin
        if not exists (select from run_erasure where run_id = erased_run) then
          raise exception 'the run % is not erased', erased_run;
        end if;
        delete from credit_result where run_id = erased_run;
        delete from shard_summary where run_id = erased_run;
      end $$;

      -- What was removed outside of the log, added to what earlier tries removed; and whether that was all.
      create function note_erasure(erased_run text, files bigint, bytes_of_files bigint, bytes_of_database bigint, is_all boolean)
      returns void language sql security definer set search_path = public, pg_temp as $$
        update run_erasure
        set file_count = file_count + files, file_bytes = file_bytes + bytes_of_files,
          database_bytes = database_bytes + bytes_of_database,
          finished_at = case when is_all then coalesce(finished_at, now()) else finished_at end
        where run_id = erased_run;
      $$;
    `);
    await db.query('grant create on schema public to recredit_eraser');
    for (const signature of FUNCTIONS) {
      await db.query(`
        revoke execute on function ${signature} from public;
        grant execute on function ${signature} to recredit_app;
        alter function ${signature} owner to recredit_eraser;
      `);
    }
    await db.query('revoke create on schema public from recredit_eraser');
  }

  async down(): Promise<void> {
    throw new Error('what was erased does not come back, and its tombstones must stay');
  }
}

const FUNCTIONS = [
  'begin_erasure(text, bigint, text, text, bigint)',
  'purge_payloads(text, integer)',
  'drop_credit(text)',
  'note_erasure(text, bigint, bigint, bigint, boolean)',
];

/** Roles belong to the server: see the migration that makes recredit_app. */
const ERASER_ROLE = `
  do $$
  declare
    modern constant boolean := current_setting('server_version_num')::int >= 160000;
  begin
    if not exists (select from pg_roles where rolname = 'recredit_eraser') then
      begin
        create role recredit_eraser nologin;
      exception
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then
          raise exception 'the role recredit_eraser is missing and % may not create roles', current_user
            using errcode = 'insufficient_privilege',
                  hint = format('as administrator run: create role recredit_eraser nologin; grant recredit_eraser to %I', current_user);
      end;
    end if;
    if not pg_has_role(current_user, 'recredit_eraser', case when modern then 'SET' else 'MEMBER' end) then
      begin
        execute format('grant recredit_eraser to %I', current_user) || case when modern then ' with set true, inherit false' else '' end;
      exception
        when insufficient_privilege then
          raise exception '% may not become recredit_eraser', current_user
            using errcode = 'insufficient_privilege',
                  hint = format('as administrator run: grant recredit_eraser to %I', current_user);
      end;
    end if;
  end $$;
`;
