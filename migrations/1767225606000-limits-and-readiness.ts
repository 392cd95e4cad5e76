import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How fast a key may be used, and that the application may see which migrations have run: an API that stands on a
 * database of another version says that it is not ready.
 */
export class LimitsAndReadiness1767225606000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table api_key
        -- null: as the platform is set; 0: no limit
        add column requests_per_second double precision check (requests_per_second between 0 and 1e9),
        add column events_per_second   double precision check (events_per_second between 0 and 1e9);
      grant update (requests_per_second, events_per_second) on api_key to recredit_app;
      grant select on schema_migration to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      revoke select on schema_migration from recredit_app;
      alter table api_key drop column requests_per_second, drop column events_per_second;
    `);
  }
}
