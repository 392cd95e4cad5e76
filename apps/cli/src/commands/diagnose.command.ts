import { Command, InvalidArgumentError } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import {
  awaitDiagnosis,
  setDiagnostics,
  type AlertView,
  type DiagnosedRun,
  type DiagnosticView,
  type SettingChanges,
} from '../client/diagnosis.js';
import { online, wholeNumber } from '../options.js';
import { evidenceText } from '../output/evidence-text.js';
import { compact, count, counted } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

interface DiagnoseOptions extends CommonOptions {
  readonly asOf?: number;
  readonly set: readonly Setting[];
}

const LEVELS = ['CRITICAL', 'WARN', 'INFO'] as const;
const SHOWN_EVIDENCE = 3;

export function diagnoseCommand(cli: Cli): Command {
  return online(new Command('diagnose'))
    .description('is a run healthy: what its diagnostics say, and which alerts stand')
    .argument('<run>', 'name or id')
    .option('--as-of <position>', 'what would have been said then', wholeNumber)
    .option(
      '--set <diagnostic.name=value>',
      'ask with another setting from now on, such as entropy-trend.targetEntropy=0.5 or pass-at-k.hold=4 (training steps running); =default puts it back',
      collectSetting,
      [],
    )
    .action(
      cli.answering(async (name: string, options: DiagnoseOptions) => {
        const waiting = cli.progress('measuring', options);
        waiting.update({ done: 0, total: 0 });
        const asOf = options.asOf ?? null;
        const found = await withApi(cli, options, async (api) => {
          if (options.set.length > 0) await setDiagnostics(api, name, changesOf(options.set));
          return awaitDiagnosis(api, name, asOf);
        }).finally(() => waiting.end());
        const { id: run, alerts, diagnostics, settings } = found;
        const json = { run, asOf: diagnostics[0]?.asOf ?? null, alerts, settings, diagnostics };
        return { json, text: diagnosisText(found) };
      }),
    );
}

/** A setting of a diagnostic; null: its default. */
interface Setting {
  readonly diagnostic: string;
  readonly name: string;
  readonly value: unknown;
}

function collectSetting(text: string, before: readonly Setting[]): Setting[] {
  const [, diagnostic, name, said] = /^([\w-]+)\.(\w+)=(.+)$/s.exec(text) ?? [];
  if (!diagnostic || !name) throw new InvalidArgumentError('expected diagnostic.name=value.');
  return [...before, { diagnostic, name, value: said === 'default' ? null : valueOf(said) }];
}

/** What is no JSON is a text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function changesOf(settings: readonly Setting[]): SettingChanges {
  const changes: Record<string, Record<string, unknown>> = {};
  for (const { diagnostic, name, value } of settings) (changes[diagnostic] ??= {})[name] = value;
  return changes;
}

function diagnosisText({ name, diagnostics, alerts, settings }: DiagnosedRun): string {
  const open = alerts.filter(({ closedStep }) => closedStep === null).sort(worstFirst);
  const closed = alerts.length - open.length;
  const told = diagnostics.filter(({ value }) => value !== null);
  const untold = diagnostics.filter(({ value }) => value === null);
  const standing =
    open.length === 0
      ? 'no alert stands'
      : `${counted(open.length, 'alert')} ${open.length === 1 ? 'stands' : 'stand'}`;
  const sections = [
    `${name}, its first ${counted(diagnostics[0]?.asOf, 'event')}: ${standing}${closed > 0 ? `, ${closed} came and went` : ''}`,
  ];
  const set = Object.entries(settings).flatMap(([diagnostic, values]) =>
    Object.entries(values ?? {}).map(([setting, value]) => `${diagnostic}.${setting}=${JSON.stringify(value)}`),
  );
  if (set.length > 0) sections.push(`asked with ${set.join(', ')}`);
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
    const rows = untold.map(({ id, reading, missing, failed }) => [id, missing[0] ?? failed[0] ?? reading]);
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
  const places = (of?.evidence ?? []).slice(0, SHOWN_EVIDENCE).map(evidenceText);
  return [
    ...lines,
    ...(places.length > 0 ? [`  see ${places.join('; ')}`] : []),
    ...(of ? [`  what helps: ${of.remedy}`] : []),
  ].join('\n');
}
