import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditResult } from '#lib/diagnosis';
import type { Finding } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { jsonObject, online, wholeNumber } from '../options.js';
import { compact, count, percent } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

interface AuditOptions extends CommonOptions {
  readonly estimator: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly signal?: string;
  readonly asOf?: number;
}

interface AuditView {
  readonly id: string;
  readonly run: string;
  readonly asOf: number;
  readonly estimator: string;
  readonly version: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: string;
  readonly state: 'RUNNING' | 'COMPLETED' | 'FAILED';
  readonly failure: string | null;
  readonly result: AuditResult | null;
}

const FIELDS = 'id run asOf estimator version params signal state failure result';
const POLL_MS = 200;

export function auditCommand(cli: Cli): Command {
  return online(new Command('audit'))
    .description("hold the trainer's own advantages against an estimator's, and name the fault if there is one")
    .argument('<run>', 'name or id')
    .requiredOption('--estimator <id>', 'what the trainer says it uses')
    .option('--params <json>', 'params of the estimator', jsonObject)
    .option('--signal <name>', "of the trainer's own advantages, per turn or token (default: loggedAdvantage)")
    .option('--as-of <position>', 'events before it are looked at', wholeNumber)
    .action(
      cli.answering(async (run: string, options: AuditOptions) => {
        const waiting = cli.progress('auditing', options);
        waiting.update({ done: 0, total: 0 });
        const audit = await withApi(cli, options, (api) => auditRun(api, run, options)).finally(() => waiting.end());
        const { result, id, state: _state, failure: _failure, ...request } = audit;
        return { json: { audit: id, ...request, ...result }, text: auditText(audit, result!) };
      }),
    );
}

async function auditRun(api: ApiClient, run: string, options: AuditOptions): Promise<AuditView> {
  const { estimator, params, signal, asOf } = options;
  const input = {
    run,
    estimator,
    ...(params && { params }),
    ...(signal && { signal }),
    ...(asOf !== undefined && { asOf }),
  };
  const { startAudit } = await api.query<{ startAudit: AuditView }>(
    `mutation ($input: StartAuditInput!) { startAudit(input: $input) { ${FIELDS} } }`,
    { input },
  );
  for (let audit = startAudit; ; await sleep(POLL_MS)) {
    const answer = await api.query<{ audit: AuditView }>(`query ($id: ID!) { audit(id: $id) { ${FIELDS} } }`, {
      id: audit.id,
    });
    audit = answer.audit;
    if (audit.state === 'COMPLETED') return audit;
    if (audit.state === 'FAILED') throw new RecreditError('internal.error', `the audit failed: ${audit.failure}`);
  }
}

function auditText({ signal, estimator, params }: AuditView, result: AuditResult): string {
  const { sentence, audited, trainingSteps, findings, changes, notRecomputed } = result;
  const sections = [
    `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`,
    [
      `claimed: ${estimator} ${JSON.stringify(params)}`,
      `logged: ${signal}, on ${count(audited)} of ${count(trainingSteps)} training steps`,
      ...(notRecomputed ? [`not recomputed on ${count(notRecomputed.trainingSteps)}: ${notRecomputed.text}`] : []),
    ].join('\n'),
  ];
  if (findings.length > 0) sections.push(findingsText(findings));
  if (changes.length > 0) {
    const shown = changes.map(
      ({ trainingStep, verdict, formula }) =>
        `${verdict}${formula ? ` (${formula})` : ''} from step ${count(trainingStep)}`,
    );
    sections.push(`it changes: ${shown.join(', ')}`);
  }
  const fault = findings.find(({ verdict }) => verdict !== 'match');
  if (fault && fault.worst.length > 0) sections.push(worstText(fault));
  return sections.join('\n\n');
}

function findingsText(findings: readonly Finding[]): string {
  const rows = findings.map(
    ({ verdict, formula, transform, turnPattern, mask, equallyGood, otherEstimators, ...of }) => [
      verdict,
      [
        ...otherEstimators,
        formula,
        transform === 'identity' ? null : transform,
        turnPattern,
        mask === 'mask-ok' ? null : mask,
      ]
        .filter((part) => part !== null)
        .join(', '),
      `${count(of.trainingSteps)}${of.isStable ? '' : ' (too few to be sure)'}`,
      `${count(of.firstStep)}..${count(of.lastStep)}`,
      percent(of.mismatchShare),
      equallyGood.join('; '),
    ],
  );
  return formatTable([['verdict', 'explained by', 'steps', 'of', 'rows off', 'fits as well']], rows, [
    'left',
    'left',
    'right',
    'left',
    'right',
    'left',
  ]);
}

function worstText({ worst }: Finding): string {
  const rows = worst.map(({ trainingStep, group, trajectory, turn, token, logged, recomputed }) => [
    count(trainingStep),
    group,
    [trajectory, turn === null ? null : `turn ${turn}`, token === null ? null : `token ${token}`]
      .filter((part) => part !== null)
      .join(', '),
    compact(logged),
    compact(recomputed),
  ]);
  return formatTable([['step', 'group', 'furthest off', 'logged', 'recomputed']], rows, [
    'right',
    'left',
    'left',
    'right',
    'right',
  ]);
}
