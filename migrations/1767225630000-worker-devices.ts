import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What could compute tensors on the machines of the workers, and when somebody last asked for it. */
export class WorkerDevices1767225630000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table device_search (
        single   boolean        primary key default true check (single),
        asked_at timestamptz not null
      );
      create table worker_device (
        host      text,
        device    text,
        is_there  boolean        not null,
        is_chosen boolean        not null, -- what learns or compares computes on it
        found     text           not null, -- its name, or why it is not there
        looked_at timestamptz not null,
        primary key (host, device)
      );
      grant select, insert, update on device_search to recredit_app;
      grant select, insert, update, delete on worker_device to recredit_app;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table worker_device, device_search');
  }
}
