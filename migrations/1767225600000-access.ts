import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who may do what: projects, the registration of runs, keys, and the role that the application works as. That role may
 * not change what must not change, and sees the projects named in the session's setting `recredit.projects` (ids with
 * commas between them, `*` for all) and nothing else: unset shows nothing.
 */
export class Access1767225600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(APPLICATION_ROLE);
    await db.query(`
      grant usage on schema public to recredit_app;

      create table project (
        id         text           primary key,
        name       text           not null unique check (name <> ''),
        created_at timestamptz(3) not null default now()
      );
      create table run (
        id              text           primary key,
        project_id      text           not null references project,
        name            text           not null check (name <> ''),
        config          jsonb          not null default '{}',
        idempotency_key text,
        created_at      timestamptz(3) not null default now(),
        unique (project_id, name)
      );
      create index run_newest_first on run (created_at desc, id desc);
      create table api_key (
        id           text           primary key,
        project_id   text           references project, -- null: of every project, those to come included
        name         text           not null,
        roles        text[]         not null check (roles <@ '{ingest,read,analyze,admin}' and roles <> '{}'),
        secret_hash  bytea          not null,
        created_at   timestamptz(3) not null default now(),
        last_used_at timestamptz(3),
        revoked_at   timestamptz(3)
      );
      create index api_key_of_project on api_key (project_id);

      -- One expression without a subquery, so that the planner inlines it.
      create function recredit_sees(project_id text) returns boolean language sql stable parallel safe as $$
        select project_id = any (string_to_array(current_setting('recredit.projects', true), ','))
          or current_setting('recredit.projects', true) = '*'
      $$;

      alter table project enable row level security;
      alter table run enable row level security;
      alter table api_key enable row level security;
      create policy confined on project using (recredit_sees(id));
      create policy confined on run using (recredit_sees(project_id));
      create policy confined on api_key using (recredit_sees(project_id));

      grant select, insert on project, run to recredit_app;
      grant select, insert on api_key to recredit_app;
      grant update (last_used_at, revoked_at) on api_key to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table api_key, run, project;
      drop function recredit_sees(text);
    `); // the role stays: it belongs to the server, and another database may use it
  }
}

/**
 * Roles belong to the server: another Recredit database there may have made this one already, or be making it now.
 * From PostgreSQL 16 on, who may create a role is its administrator but may not become it until he says so.
 */
const APPLICATION_ROLE = `
  do $$
  declare
    modern constant boolean := current_setting('server_version_num')::int >= 160000;
  begin
    if not exists (select from pg_roles where rolname = 'recredit_app') then
      begin
        create role recredit_app nologin;
      exception
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then
          raise exception 'the role recredit_app is missing and % may not create roles', current_user
            using errcode = 'insufficient_privilege',
                  hint = format('as administrator run: create role recredit_app nologin; grant recredit_app to %I', current_user);
      end;
    end if;
    if not pg_has_role(current_user, 'recredit_app', case when modern then 'SET' else 'MEMBER' end) then
      begin
        execute format('grant recredit_app to %I', current_user) || case when modern then ' with set true, inherit false' else '' end;
      exception
        when insufficient_privilege then
          raise exception '% may not become recredit_app', current_user
            using errcode = 'insufficient_privilege',
                  hint = format('as administrator run: grant recredit_app to %I', current_user);
      end;
    end if;
  end $$;
`;
