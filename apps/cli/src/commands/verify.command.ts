import { findRun } from '#lib/access';
import { verifyRun, type Verification } from '#lib/event-log';
import { rebuild } from '#lib/projection';
import { openSegmentStore } from '#lib/storage';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { withDatabase, type PlatformDatabase } from '../database.js';
import { online } from '../options.js';
import { bytes, count, counted } from '../output/numbers.js';
import { formatTable } from '../output/table.js';

const WHERE = 'works on the database itself: that of RECREDIT_DATABASE_URL, or of RECREDIT_HOME, running or not';

interface DatabaseOptions extends CommonOptions {
  readonly project?: string;
}

export function verifyCommand(cli: Cli): Command {
  return online(new Command('verify'))
    .description('walk the log of a run and check every batch against what was acknowledged')
    .argument('<run>', 'name or id')
    .option('--project <name>', 'where several projects have a run of that name')
    .addHelpText('after', `\nIt ${WHERE}.`)
    .action(
      cli.answering(async (name: string, options: DatabaseOptions) => {
        const { run, verification } = await withDatabase(cli.config, async ({ pool, everything }) => {
          const run = await findRun(everything, name, options.project);
          const bar = cli.progress('verifying', options);
          const onProgress = (done: number, total: number) =>
            bar.update({ done, total, detail: counted(done, 'event') });
          const verification = await verifyRun(pool, run.id, { onProgress }).finally(() => bar.end());
          return { run, verification };
        });
        const { runId, ...rest } = verification;
        const json = { run: runId, name: run.name, ok: rest.broken === null, ...rest };
        return { json, text: verificationText(run.name, verification), exitCode: rest.broken ? 1 : 0 };
      }),
    );
}

function verificationText(
  name: string,
  { batches, events, bytes: size, chainHash, erased, broken }: Verification,
): string {
  if (!broken && erased) {
    const what = `${counted(erased.events, 'event')} in ${counted(erased.batches, 'batch', 'batches')}`;
    const left = events - erased.events;
    return `${name}: ERASED at position ${count(erased.position)}: of ${what} the hashes are left, and their chain is whole; ${counted(left, 'event')} as acknowledged\nchain hash ${chainHash}`;
  }
  if (!broken) {
    const what = `${counted(events, 'event')} in ${counted(batches, 'batch', 'batches')} (${bytes(size)})`;
    return `${name}: ${what}, all as they were acknowledged\nchain hash ${chainHash}`;
  }
  const { position, producerId, sequence, what, expected, found } = broken;
  const whose =
    producerId === null
      ? 'its head'
      : `the batch at position ${position} (producer ${producerId}, sequence ${sequence})`;
  return `${name}: BROKEN at ${whose}: ${what}: expected ${expected}, found ${found}\n${counted(events, 'event')} before it are as they were acknowledged`;
}

export function rebuildCommand(cli: Cli): Command {
  return online(new Command('rebuild'))
    .description('drop what was made of the log of a run, or of all runs, and make it again')
    .argument('[run]', 'name or id; none: all runs')
    .option('--project <name>', 'where several projects have a run of that name')
    .addHelpText('after', `\nIt ${WHERE}.`)
    .action(
      cli.answering(async (name: string | undefined, options: DatabaseOptions) => {
        const bar = cli.progress('rebuilding', options);
        const rebuilt = await withDatabase(cli.config, async (database) => {
          const { everything, pool } = database;
          const store = await openSegmentStore(cli.config.segments);
          const ids = name === undefined ? await runsOf(database) : [await findRun(everything, name, options.project)];
          const done: { run: string; name: string; events: number }[] = [];
          for (const { id, name } of ids) {
            bar.update({ done: done.length, total: ids.length, detail: name });
            for (const { runId, events } of await rebuild(pool, store, id)) done.push({ run: runId, name, events });
          }
          return done;
        }).finally(() => bar.end());
        return { json: { rebuilt }, text: rebuiltText(rebuilt) };
      }),
    );
}

function runsOf({ everything }: PlatformDatabase): Promise<{ id: string; name: string }[]> {
  return everything.query('select id, name from run order by created_at, id');
}

function rebuiltText(rebuilt: readonly { name: string; events: number }[]): string {
  if (rebuilt.length === 0) return 'there is no run to rebuild';
  return formatTable(
    [['rebuilt', 'events']],
    rebuilt.map(({ name, events }) => [name, count(events)]),
    ['left', 'right'],
  );
}
