import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecreditError } from '#lib/kernel';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { findRun, type RunView } from '../client/runs.js';
import { online, wrongUsage } from '../options.js';
import { bytes, count, counted, instant } from '../output/numbers.js';
import { withApi } from '../session.js';

const POLL_MS = 200;
/** A worker takes it up at once. Where nobody moves it for so long, none is there. */
const PATIENCE_MS = 60_000;

interface EraseOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly reason?: string;
}

interface ErasureView {
  readonly position: number;
  readonly reason: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly rows: number;
  readonly batches: number;
  readonly payloadBytes: number;
  readonly files: number;
  readonly fileBytes: number;
  readonly databaseBytes: number;
  readonly finishedAt: string | null;
}

const FIELDS = `position reason requestedBy requestedAt rows batches payloadBytes files fileBytes databaseBytes finishedAt`;

export function eraseCommand(cli: Cli): Command {
  return online(new Command('erase'))
    .description('purge the payloads of a run and all that was made of them; hashes and a tombstone stay')
    .argument('<run>', 'name or id')
    .option('--reason <text>', 'why; kept in the tombstone')
    .option('--yes', 'do not ask; needed where nobody can be asked')
    .addHelpText('after', '\nIt needs an admin key. What is erased cannot be had again, but from a backup.')
    .action(
      cli.answering(async (name: string, options: EraseOptions) => {
        if (!options.yes && !process.stdin.isTTY)
          throw wrongUsage('erase: what is erased cannot be had again; say --yes');
        const bar = cli.progress('erasing', options);
        const { run, erasure } = await withApi(cli, options, async (api) => {
          const run = await findRun<{ erasure: ErasureView | null }>(api, name, `erasure { ${FIELDS} }`);
          if (!options.yes && !run.erasure) await askFor(cli, run);
          await begin(api, run.id, options.reason);
          const report = ({ batches }: ErasureView) =>
            bar.update({ done: 0, total: 0, detail: counted(batches, 'batch', 'batches') });
          return { run, erasure: await untilFinished(api, run.id, report) };
        }).finally(() => bar.end());
        return { json: { run: run.id, name: run.name, ...erasure }, text: erasureText(run.name, erasure) };
      }),
    );
}

/** On a terminal a person types the name of the run. @throws RecreditError where another word was typed */
async function askFor(cli: Cli, { name, project, progress }: RunView): Promise<void> {
  const what = `${counted(progress.trajectoryCount, 'trajectory', 'trajectories')}, ${counted(progress.turnCount, 'turn')}`;
  cli.note(`run ${name} of project ${project}: ${what}. What is erased cannot be had again.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(terminal, 'close').then(() => '');
  const typed = await Promise.race([terminal.question('type its name to erase it: '), closed]);
  terminal.close();
  if (typed.trim() !== name) throw new RecreditError('request.invalid', `nothing was erased: ${name} was not typed`);
}

async function begin(api: ApiClient, run: string, reason: string | undefined): Promise<void> {
  await api.query(
    `mutation ($run: ID!, $reason: String) { eraseRun(input: { run: $run, reason: $reason }) { position } }`,
    { run, reason: reason ?? null },
  );
}

async function untilFinished(
  api: ApiClient,
  id: string,
  onProgress: (erasure: ErasureView) => void,
): Promise<ErasureView> {
  let moved = performance.now();
  let last = '';
  for (;;) {
    const { erasure } = await findRun<{ erasure: ErasureView }>(api, id, `erasure { ${FIELDS} }`);
    onProgress(erasure);
    if (erasure.finishedAt !== null) return erasure;
    const now = JSON.stringify(erasure);
    if (now !== last) [last, moved] = [now, performance.now()];
    if (performance.now() - moved > PATIENCE_MS) {
      throw new RecreditError(
        'request.invalid',
        'the run is erased for everybody, and its bytes are still there: no worker takes them away; erase again when one runs',
      );
    }
    await sleep(POLL_MS);
  }
}

function erasureText(name: string, erasure: ErasureView): string {
  const { requestedAt, requestedBy, reason, rows, batches, payloadBytes, files, fileBytes, databaseBytes } = erasure;
  return [
    `${name} is erased (${instant(requestedAt)} UTC, by ${requestedBy}: ${reason})`,
    `purged    ${counted(batches, 'batch', 'batches')} of the log, ${bytes(payloadBytes)} as they were stored; their hashes stay`,
    `removed   ${counted(rows, 'row')} of read models, ${counted(files, 'file')} of segments and credit (${bytes(fileBytes)})`,
    `database  ${bytes(databaseBytes)} smaller on disk${databaseBytes < payloadBytes / 2 ? '; the rest is free for new events' : ''}`,
    `position  ${count(erasure.position)} holds run.erased, the last event`,
  ].join('\n');
}
