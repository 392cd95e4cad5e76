import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { awaitDiagnosis, type AlertView, type DiagnosticView } from '../client/diagnosis.js';
import type { RunView } from '../client/runs.js';
import { online, wholeNumber } from '../options.js';
import { compact, count, counted } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

interface DiagnoseOptions extends CommonOptions {
  readonly asOf?: number;
}

type Diagnosed = RunView & { readonly diagnostics: readonly DiagnosticView[]; readonly alerts: readonly AlertView[] };

const LEVELS = ['CRITICAL', 'WARN', 'INFO'] as const;
const SHOWN_EVIDENCE = 3;

export function diagnoseCommand(cli: Cli): Command {
  return online(new Command('diagnose'))
    .description('is a run healthy: what its diagnostics say, and which alerts stand')
    .argument('<run>', 'name or id')
    .option('--as-of <position>', 'what would have been said then', wholeNumber)
    .action(
      cli.answering(async (name: string, options: DiagnoseOptions) => {
        const waiting = cli.progress('measuring', options);
        waiting.update({ done: 0, total: 0 });
        const asOf = options.asOf ?? null;
        const found = await withApi(cli, options, (api) => awaitDiagnosis(api, name, asOf)).finally(() =>
          waiting.end(),
        );
        const { id: run, alerts, diagnostics } = found;
        return { json: { run, asOf: diagnostics[0]?.asOf ?? null, alerts, diagnostics }, text: diagnosisText(found) };
      }),
    );
}

function diagnosisText({ name, diagnostics, alerts }: Diagnosed): string {
  const open = alerts.filter(({ closedStep }) => closedStep === null).sort(worstFirst);
  const closed = alerts.length - open.length;
  const told = diagnostics.filter(({ value }) => value !== null);
  const untold = diagnostics.filter(({ value }) => value === null);
  const standing =
    open.length === 0
      ? 'no alert stands'
      : `${counted(open.length, 'alert')} ${open.length === 1 ? 'stands' : 'stand'}`;
  const sections = [
    `${name}, its first ${count(diagnostics[0]?.asOf)} events: ${standing}${closed > 0 ? `, ${closed} came and went` : ''}`,
  ];
  for (const [diagnostic, alerts] of Map.groupBy(open, ({ diagnostic }) => diagnostic)) {
    sections.push(
      alertsText(
        alerts,
        diagnostics.find(({ id }) => id === diagnostic),
      ),
    );
  }
  if (told.length > 0) {
    const rows = told.map(({ id, headline, value, reading }) => [id, `${headline} ${compact(value)}`, reading]);
    sections.push(formatTable([['diagnostic', 'value', 'what it says']], rows, ['left', 'left', 'left']));
  }
  if (untold.length > 0) {
    const rows = untold.map(({ id, reading, missing }) => [id, missing[0] ?? reading]);
    sections.push(formatTable([['cannot be said', 'because']], rows, ['left', 'left']));
  }
  return sections.join('\n\n');
}

const worstFirst = (a: AlertView, b: AlertView) =>
  LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || a.openedStep - b.openedStep;

/** The alerts of one diagnostic, worst first. */
function alertsText(alerts: readonly AlertView[], of: DiagnosticView | undefined): string {
  const lines = alerts.map(({ level, diagnostic, says, saw, openedStep }) => {
    const numbers = Object.entries(saw).map(([name, value]) => `${name} ${compact(value)}`);
    return `${level.toLowerCase()}  ${says}\n  ${diagnostic}, since training step ${count(openedStep)} (${numbers.join(', ')})`;
  });
  const places = (of?.evidence ?? [])
    .slice(0, SHOWN_EVIDENCE)
    .map(({ trainingStep, note }) => `step ${trainingStep}: ${note}`);
  return [
    ...lines,
    ...(places.length > 0 ? [`  see ${places.join('; ')}`] : []),
    ...(of ? [`  what helps: ${of.remedy}`] : []),
  ].join('\n');
}
