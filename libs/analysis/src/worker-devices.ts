import type { Queryable } from '#lib/storage';

/** What became of a device on a worker's machine, when it was last looked for. */
export interface WorkerDevice {
  readonly host: string;
  /** cuda, webgpu or wasm */
  readonly device: string;
  readonly isThere: boolean;
  /** estimators that learn, and what compares states, compute on it there */
  readonly isChosen: boolean;
  /** its name, or why it is not there */
  readonly found: string;
  readonly lookedAt: Date;
}

/** Asks all workers to look for devices. Each does so in its own time, and says what it found. */
export async function askForDevices(db: Queryable): Promise<void> {
  await db.query(
    `insert into device_search (asked_at) values (clock_timestamp())
     on conflict (single) do update set asked_at = excluded.asked_at`,
  );
}

/** Whether somebody asked for devices since they were last looked for on a machine. */
export async function areDevicesAsked(db: Queryable, host: string): Promise<boolean> {
  const { rows } = await db.query(
    `select from device_search
     where asked_at > coalesce((select min(looked_at) from worker_device where host = $1), '-infinity')`,
    [host],
  );
  return rows.length > 0;
}

/** Puts what was found on a machine in place of what was found there before. One statement: two workers may do it at once. */
export async function recordDevices(
  db: Queryable,
  host: string,
  found: readonly Pick<WorkerDevice, 'device' | 'isThere' | 'isChosen' | 'found'>[],
): Promise<void> {
  await db.query(
    `with gone as (
       delete from worker_device where host = $1 and device <> all (select d ->> 'device' from jsonb_array_elements($2) d)
     )
     insert into worker_device (host, device, is_there, is_chosen, found, looked_at)
     select $1, device, "isThere", "isChosen", found, clock_timestamp()
     from jsonb_to_recordset($2) as d(device text, "isThere" boolean, "isChosen" boolean, found text)
     on conflict (host, device) do update set is_there = excluded.is_there, is_chosen = excluded.is_chosen,
       found = excluded.found, looked_at = excluded.looked_at`,
    [host, JSON.stringify(found)],
  );
}

/** By machine; those that are taken first. */
export async function workerDevices(db: Queryable): Promise<WorkerDevice[]> {
  const { rows } = await db.query(
    `select host, device, is_there as "isThere", is_chosen as "isChosen", found, looked_at as "lookedAt"
     from worker_device order by host, is_chosen desc, is_there desc, device`,
  );
  return rows;
}
