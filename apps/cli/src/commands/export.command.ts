import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RecreditError } from '#lib/kernel';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { awaitDiagnosis } from '../client/diagnosis.js';
import { online, stepRange, wrongUsage, type StepRange } from '../options.js';
import { bytes } from '../output/numbers.js';
import type { ProgressBar } from '../output/progress-bar.js';
import { withApi } from '../session.js';

interface ExportOptions extends CommonOptions {
  readonly to: string;
  readonly diagnosis?: boolean;
  readonly steps?: StepRange;
}

interface Download {
  readonly kind: 'run' | 'analysis';
  readonly path: string;
  readonly file: string;
}

export function exportCommand(cli: Cli): Command {
  return online(new Command('export'))
    .description('write the trajectories of a run, its diagnosis, or the credit of an analysis, as Arrow IPC files')
    .argument('<run-or-analysis>', 'name or id of a run, or id of an analysis')
    .requiredOption('--to <dir>', 'folder; made when it is not there')
    .option('--steps <A..B>', 'of a run: only these training steps, both ends included', stepRange)
    .option('--diagnosis', 'of a run: what its diagnostics say by training step, its alerts and its plan instead')
    .action(
      cli.answering(async (name: string, options: ExportOptions) => {
        const folder = resolve(cli.workingDirectory, options.to);
        if (options.diagnosis && options.steps)
          throw wrongUsage('a diagnosis is of all training steps: leave --steps out');
        const { kind, files } = await withApi(cli, options, async (api) => {
          const downloads = options.diagnosis
            ? await diagnosisDownloads(api, name)
            : [await findDownload(api, name, options.steps)];
          const files: { readonly path: string; readonly bytes: number }[] = [];
          for (const { path, file } of downloads) {
            const target = join(folder, file);
            files.push({ path: target, bytes: await save(api, path, target, cli.progress('exporting', options)) });
          }
          return { kind: downloads[0].kind, files };
        });
        const lines = files.map((file) => `${file.path}  ${bytes(file.bytes)}`);
        return { json: { [kind]: name, files }, text: lines.join('\n') };
      }),
    );
}

const DIAGNOSIS = ['diagnostics', 'alerts', 'plan'] as const;

/** Of a run that is diagnosed as far as it is now. */
async function diagnosisDownloads(api: ApiClient, name: string): Promise<Download[]> {
  const run = await awaitDiagnosis(api, name, null);
  return DIAGNOSIS.map((table) => ({
    kind: 'run',
    path: `/v1/runs/${encodeURIComponent(run.id)}/${table}.arrow`,
    file: `${fileName(run.name)}.${table}.arrow`,
  }));
}

async function findDownload(api: ApiClient, name: string, steps: StepRange | undefined): Promise<Download> {
  const { run, analysis } = await api.query<{
    run: { id: string; name: string } | null;
    analysis: { id: string } | null;
  }>('query ($name: ID!) { run(id: $name) { id name } analysis(id: $name) { id } }', { name });
  if (run) {
    const range = steps ? `?steps=${steps.from ?? ''}..${steps.to ?? ''}` : '';
    const path = `/v1/runs/${encodeURIComponent(run.id)}/trajectories.arrow${range}`;
    return { kind: 'run', path, file: `${fileName(run.name)}.trajectories.arrow` };
  }
  if (!analysis) throw new RecreditError('run.unknown', `no run and no analysis ${name} among those you see`);
  return { kind: 'analysis', path: `/v1/analyses/${analysis.id}/credit.arrow`, file: `${analysis.id}.credit.arrow` };
}

/** Names come from outside: none of them may climb out of the folder. */
function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').replace(/^\.+/, '_') || 'run';
}

/** Written beside its place first: a file of that name is a whole one. */
async function save(api: ApiClient, path: string, file: string, bar: ProgressBar): Promise<number> {
  const body = await api.download(path);
  await mkdir(resolve(file, '..'), { recursive: true });
  const unfinished = `${file}.part`;
  let size = 0;
  const counting = new Transform({
    transform(chunk: Uint8Array, _, next) {
      size += chunk.length;
      bar.update({ done: 0, total: 0, detail: bytes(size) });
      next(null, chunk);
    },
  });
  try {
    await pipeline(body, counting, createWriteStream(unfinished));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    bar.end();
  }
  return size;
}
