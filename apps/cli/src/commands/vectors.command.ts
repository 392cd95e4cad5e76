import { basename } from 'node:path';
import { Command } from 'commander';
import type { Cli } from '../cli.js';
import { checkVectorFile, vectorFiles, type CheckedFile } from '../offline/check-vector-file.js';
import { answers } from '../options.js';
import { counted } from '../output/numbers.js';
import { formatTable } from '../output/table.js';

export function vectorsCommand(cli: Cli): Command {
  const check = answers(new Command('check'))
    .description('run files of golden vectors; exit 1 when a case fails or a file is about something unknown')
    .argument('<path...>', 'vector files, or folders of them')
    .action(
      cli.answering(async (paths: string[]) => {
        const files: CheckedFile[] = [];
        for (const file of await vectorFiles(paths)) files.push(await checkVectorFile(file));
        const failed = files.some(({ problem, cases }) => problem !== null || cases.some(({ ok }) => !ok));
        return { json: { ok: !failed, files }, text: vectorsText(files), exitCode: failed ? 1 : 0 };
      }),
    );
  return new Command('vectors').description('golden vectors (no platform needed)').addCommand(check);
}

function vectorsText(files: readonly CheckedFile[]): string {
  const cases = files.flatMap((file) => file.cases.map((checked) => ({ subject: file.subject ?? '', ...checked })));
  const rows = cases.map(({ subject, name, ok, largestError, tolerance }) => [
    ok ? 'ok' : 'FAILED',
    subject,
    name,
    largestError.toExponential(1),
    String(tolerance),
  ]);
  const table = formatTable([['', 'file', 'case', 'largest error', 'tolerance']], rows, [
    'left',
    'left',
    'left',
    'right',
    'right',
  ]);
  const failed = cases.filter(({ ok }) => !ok);
  const unchecked = files.filter(({ problem }) => problem !== null);
  return [
    ...(cases.length > 0 ? [table, ''] : []),
    ...failed.flatMap(({ subject, name, differences }) => [
      `${subject}, ${name}:`,
      ...differences.map((difference) => `  ${difference}`),
    ]),
    ...unchecked.map(({ file, problem }) => `${basename(file)} could not be checked: ${problem}`),
    [
      `${counted(cases.length - failed.length, 'case')} passed`,
      `${failed.length} failed`,
      ...(unchecked.length > 0 ? [`${counted(unchecked.length, 'file')} not checked`] : []),
    ].join(', '),
  ].join('\n');
}
