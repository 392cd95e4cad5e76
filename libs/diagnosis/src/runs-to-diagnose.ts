import type { Queryable } from '#lib/storage';

/** A run whose read models are ahead of its diagnosis. */
export interface RunToDiagnose {
  readonly runId: string;
  /** it ended, or was silent for a while: the last step is measured as it is */
  readonly isFinal: boolean;
}

const SILENT = '10 seconds';
const AT_ONCE = 100;
/** A diagnosis rests so many times as long as it took to read the run, so that a long one costs no more than a share of a core. */
const REST = 9;

/**
 * Runs that advanced since they were diagnosed and whose rest is over, those that waited longest first. A run to which
 * nothing is written any more needs no rest, nor does one whose settings changed; one that fell silent has its last step
 * measured, which was passed over while more of it might have come. Erased runs have nothing to say.
 */
export async function runsToDiagnose(db: Queryable): Promise<RunToDiagnose[]> {
  const { rows } = await db.query(
    `select "runId", "isFinal" from (
       select run_id as "runId", state <> 'running' or last_event_at < now() - $1::interval as "isFinal", made_at,
         coalesce(made_at + $3 * seconds * interval '1 second' < now(), true) as is_rested,
         settings.version > settings_version as is_changed
       from run_progress left join diagnosis using (run_id)
         left join lateral (
           select max(version) as version from diagnostic_settings where run_id = run_progress.run_id
         ) as settings on true
       where (position > coalesce(as_of, 0) or settings.version > settings_version
           or pending_steps > 0 and greatest(made_at, last_event_at) < now() - $1::interval)
         and not exists (select from run_erasure where run_erasure.run_id = run_progress.run_id)
     ) as advanced
     where is_rested or "isFinal" or is_changed order by made_at nulls first limit $2`,
    [SILENT, AT_ONCE, REST],
  );
  return rows;
}
